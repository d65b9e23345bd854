// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

namespace corozk::matrix {

awaitable<void> take_turn(stage& s,
                          call<ownership>& asked,
                          std::string_view state,
                          bool alone,
                          bool in_line) {
    ownership held = co_await asked.result();
    call<error_code> lost(s, "lost");
    call<> released(s, "release");
    {
        tenure owner(s, held, s.ours(), alone, in_line);
        held.lost(lost.token());
        co_await s.state(
            state, [&] { return lost.done() || !held.valid() || s.ours().counters().watches > 0; });
        if (s.set().at_state == state && s.deprived_of(held.path())) {
            co_await testing::eventually_async(
                [&] { return !held.valid(); }, s.patience(), "the loss is seen");
            co_await lost.ended();
        }
    }
    held.release(released.token());
    s.check(!held.valid(), "what is being released is not valid");
    co_await released.result();
    co_await lost.ended();
}

awaitable<void> others_turn(stage& s, client& c, ownership held, bool alone, bool in_line) {
    s.check(held.valid(), "the next one's grant is valid");
    { tenure owner(s, held, c, alone, in_line); }
    co_await held.release();
}

}  // namespace corozk::matrix
