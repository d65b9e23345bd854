// SPDX-License-Identifier: Apache-2.0
#include "queue_items.hpp"

namespace corozk::matrix {

namespace priority_queue_scenarios {

constexpr std::int32_t urgent = 1;
constexpr std::int32_t usual = 5;
constexpr std::int32_t late = 9;

/// Puts one more, as the last, and takes whatever is there, until that has come out.
awaitable<void> probe(client& c, stage& s) {
    priority_queue q(c, queue_path(s), options_of<queue_options>(s));
    co_await q.put("last", late + 1);
    std::int32_t before = urgent - 1;
    for (;;) {
        auto deadline = std::chrono::steady_clock::now() + s.patience();
        queue_item item = co_await q.take_until(deadline);
        s.check(item.priority >= before, "the most urgent one first");
        before = item.priority;
        if (item.data == "last")
            break;
    }
}

awaitable<void> puts_too(client& c, stage& s) {
    priority_queue q(c, queue_path(s), options_of<queue_options>(s));
    co_await put_noted(q, s, std::string("beside"), late);
}

/// Takes what comes, and then the more urgent one of two that came the other way round.
awaitable<void> take(stage& s) {
    priority_queue theirs(s.theirs(), queue_path(s), options_of<queue_options>(s));
    object<priority_queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    call<queue_item> taking(s, "take");
    q->take_until(taking.deadline(), taking.token());
    co_await s.state("waiting");
    co_await put_noted(theirs, s, std::string("first"), usual);
    co_await taken(s, taking, "first");
    co_await s.state("taken");
    co_await put_noted(theirs, s, std::string("low"), usual);
    co_await put_noted(theirs, s, std::string("high"), urgent);
    call<queue_item> another(s, "take another");
    q->take_until(another.deadline(), another.token());
    queue_item item = co_await taken(s, another, "high");
    s.check(item.data == "high", "the more urgent one first");
}

const registered it([] {
    scenario s;
    s.recipe = "priority_queue";
    s.name = "take";
    s.play = take;
    s.probe = probe;
    s.companion = puts_too;
    s.invariant = no_item_lost;
    s.may_stay = is_of_a_queue;
    s.foreign_in = "/q";
    s.outlives_session = true;
    return s;
}());

}  // namespace priority_queue_scenarios

}  // namespace corozk::matrix
