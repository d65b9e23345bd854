// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

#include <algorithm>

namespace corozk::matrix {

namespace {

/// What was taken away is missed, and for a good reason.
awaitable<void> see_the_loss(stage& s, ownership& held, call<error_code>& lost) {
    co_await testing::eventually_async(
        [&] { return !held.valid(); }, s.patience(), "the loss is seen");
    error_code ec = co_await lost.ended();
    if (interrupts(s.which()))
        co_return;
    error_code reason = co_await lost.result();
    s.check(!ec && (is_session_lost(reason) || reason == errc::ownership_lost),
            "the reason of the loss: " + reason.message());
}

}  // namespace

awaitable<void> take_turn(stage& s, grant& asked, std::string_view state) {
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    call<error_code> lost(s, "lost");
    call<> released(s, "release");
    held->wait_lost(lost.token());
    std::string path = held->path();
    co_await s.state(state, [&] { return lost.done() || s.ours().counters().watches > 0; });
    if (s.set().at_state == state && s.deprived_of(path))
        co_await see_the_loss(s, *held, lost);
    ownership& own = *held;
    own.release(released.token());
    s.check(!own.valid(), "what is being released is not valid");
    co_await released.result();
    co_await lost.ended();
}

awaitable<void> take_turns(stage& s, std::vector<grant*> asked) {
    for (std::size_t number = 1; !asked.empty(); ++number) {
        auto next = asked.end();
        co_await testing::eventually_async(
            [&] {
                next = std::find_if(
                    asked.begin(), asked.end(), [](const grant* g) { return g->done(); });
                return next != asked.end();
            },
            s.patience(),
            "the next grant");
        grant& granted = **next;
        asked.erase(next);
        std::string state = "holding " + std::to_string(number);
        co_await take_turn(s, granted, state);
    }
}

awaitable<void> changed(stage& s, droppable<ownership>& held, call<>& change) {
    error_code ec = co_await change.ended();
    if (cancels(s.which()) && ec == boost::asio::error::operation_aborted) {
        co_await s.settle();
        auto record = s.stat(held->path());
        // After a downgrade the node is younger than the token.
        s.check(held.holds() && record && record->czxid >= held->fencing_token(),
                "what is owned survives a cancelled change");
    }
    co_await change.result();
}

awaitable<void> others_turn(stage& s, client& c, ownership held, share what) {
    s.check(held.valid(), "the next one's grant is valid");
    s.owners.enter(held, c.session_id(), what);
    co_await held.release();
}

}  // namespace corozk::matrix
