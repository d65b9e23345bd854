// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/counter.hpp>

namespace corozk::matrix {

namespace {

std::string path(const stage& s) {
    return s.folder() + "/c";
}

awaitable<void> probe(client& c, stage& s) {
    counter mine(c, path(s), options_of<counter_options>(s));
    s.note("tried", "1");
    std::int64_t value = co_await mine.add(1);
    s.note("done", "1");
    s.check(value >= 1, "the counter goes on");
}

awaitable<void> add(stage& s) {
    object<counter> mine(s, s.ours(), path(s), options_of<counter_options>(s));
    for (const char* state : {"first", "second", "third"}) {
        call<std::int64_t> adding(s, "add");
        s.note("tried", "1");
        mine->add(1, adding.token());
        co_await adding.result();
        s.note("done", "1");
        co_await s.state(state);
    }
}

/// No addition is lost, and none is done twice.
awaitable<void> exact(stage& s) {
    // With its parent the counter is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    std::size_t value = s.exists(path(s)) ? std::stoul(s.data(path(s))) : 0;
    s.check(value >= s.notes("done").size(), "no addition is lost");
    s.check(value <= s.notes("tried").size(), "no addition is done twice");
}

scenario make() {
    scenario s;
    s.recipe = "counter";
    s.name = "add";
    s.play = add;
    s.probe = probe;
    s.invariant = exact;
    s.outlives_session = true;
    s.leaves_data = true;
    // Nothing was sent in the time allowed.
    s.may_end_with[fault::long_hole] = {errc::not_connected};
    s.without[fault::own_node_deleted] = "the counter is nobody's node";
    return s;
}

const registered it(make());

}  // namespace

}  // namespace corozk::matrix
