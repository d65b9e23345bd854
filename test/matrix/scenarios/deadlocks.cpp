// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/lock.hpp>

namespace corozk::matrix {

namespace deadlocks_scenarios {

std::vector<std::string> paths(const stage& s) {
    return {s.folder() + "/a", s.folder() + "/b"};
}

lock_options options_for(const stage& s, const char* who) {
    lock_options options = options_of<lock_options>(s);
    options.identity = who;
    return options;
}

/// Nobody waits for anybody.
awaitable<void> probe(client& c, stage& s) {
    std::vector<std::string> where = paths(s);
    wait_graph graph = co_await find_deadlocks(c, where);
    s.check(graph.deadlocks.empty(), "nobody is stuck");
}

awaitable<void> looks_too(client& c, stage& s) {
    std::vector<std::string> where = paths(s);
    wait_graph graph = co_await find_deadlocks(c, where);
    s.check(graph.deadlocks.size() <= 1, "there is one deadlock at most");
}

/// Two others wait for each other.
awaitable<void> search(stage& s) {
    lock first_a(s.theirs(), s.folder() + "/a", options_for(s, "first"));
    lock first_b(s.theirs(), s.folder() + "/b", options_for(s, "first"));
    lock second_a(s.theirs(), s.folder() + "/a", options_for(s, "second"));
    lock second_b(s.theirs(), s.folder() + "/b", options_for(s, "second"));
    ownership a = co_await first_a.acquire();
    ownership b = co_await second_b.acquire();
    call<ownership> wants_b(s, "the first one's second", party::theirs);
    call<ownership> wants_a(s, "the second one's second", party::theirs);
    first_b.acquire(wants_b.token());
    second_a.acquire(wants_a.token());
    co_await s.state("stuck", [&] {
        return s.children(s.folder() + "/a").size() >= 2 &&
               s.children(s.folder() + "/b").size() >= 2;
    });
    call<wait_graph> asked(s, "find_deadlocks");
    client& first_asked = s.ours();  // may throw: before there is a token
    find_deadlocks(first_asked, paths(s), asked.token());
    wait_graph graph = co_await asked.result();
    if (s.which() != fault::parent_deleted)
        s.check(graph.deadlocks.size() == 1, "the deadlock is found");
    co_await b.release();
    co_await s.state("solved", [&] { return wants_b.done(); });
    call<wait_graph> again(s, "find_deadlocks again");
    client& asked_again = s.ours();
    find_deadlocks(asked_again, paths(s), again.token());
    graph = co_await again.result();
    s.check(graph.deadlocks.empty(), "a deadlock that is solved is none");
}

const registered it([] {
    scenario s;
    s.recipe = "deadlocks";
    s.name = "search";
    s.play = search;
    s.probe = probe;
    s.companion = looks_too;
    s.may_stay = [](stage&, const std::string& below) { return below == "a" || below == "b"; };
    s.foreign_in = "/a";
    s.without[fault::own_node_deleted] = "who looks has no node";
    // A search is not repeated: an answer that did not come is an error, and so says its page.
    for (fault f : connection_breakers)
        s.may_end_with[f] = {zk_errc::connection_loss, errc::not_connected};
    return s;
}());

}  // namespace deadlocks_scenarios

}  // namespace corozk::matrix
