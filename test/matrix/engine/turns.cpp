// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

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

awaitable<void> others_turn(stage& s, client& c, ownership held, share what) {
    s.check(held.valid(), "the next one's grant is valid");
    s.owners.enter(held, c.session_id(), what);
    co_await held.release();
}

}  // namespace corozk::matrix
