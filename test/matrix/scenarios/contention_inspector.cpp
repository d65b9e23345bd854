// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/lock.hpp>

namespace corozk::matrix {

namespace contention_inspector_scenarios {

/// Nobody is in the line.
awaitable<void> probe(client& c, stage& s) {
    contention_inspector line(c, s.folder());
    std::vector<contender_info> all = co_await line.list_contenders();
    s.check(all.empty(), "the line is empty");
}

/// Ours looks at a line of others, and takes the lock from one who waits.
awaitable<void> look(stage& s) {
    lock theirs(s.theirs(), s.folder(), options_of<lock_options>(s));
    ownership first = co_await theirs.acquire();
    s.enter_owner(first, party::theirs);
    call<ownership> waits(s, "their acquire", party::theirs);
    theirs.acquire(waits.token());
    object<contention_inspector> line(s, s.ours(), s.folder());
    co_await s.state("two are there", [&] { return s.nodes() >= 2 || waits.done(); });
    call<std::vector<contender_info>> asked(s, "contenders");
    line->list_contenders(asked.token());
    std::vector<contender_info> all = co_await asked.result();
    s.check(all.size() == 2 && all[0].holds && !all[1].holds, "one holds, and one waits");
    s.check(all[0].path == first.path(), "it is known who holds");
    co_await s.state("known");
    call<> breaking(s, "break_contender");
    line->break_contender(all[1].path, breaking.token());
    co_await breaking.result();
    error_code ec = co_await waits.ended();
    s.check(ec == errc::ownership_lost, "who is broken is told: " + ec.message());
    co_await first.release();
}

const registered it([] {
    scenario s;
    s.recipe = "contention_inspector";
    s.name = "look";
    s.play = look;
    s.probe = probe;
    s.without[fault::own_node_deleted] = "who looks has no node";
    s.without[fault::parent_deleted] = "with their folder those in the line are gone";
    s.without[fault::foreign_children] =
        "what is a stranger to one naming is a contender in another";
    s.without[fault::second_object] = "it would look at what is being broken";
    // Looking and breaking are not repeated, and their page says so.
    for (fault f : connection_breakers)
        s.may_end_with[f] = {zk_errc::connection_loss, errc::not_connected};
    return s;
}());

}  // namespace contention_inspector_scenarios

}  // namespace corozk::matrix
