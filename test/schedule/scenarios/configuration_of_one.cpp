// SPDX-License-Identifier: Apache-2.0
// The configuration of one node. Each value is written once at most; who has written, and was not
// overwritten, is told so, and sees nothing older in his own object; the reader sees no value again
// after another one, and in the end the last.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/configuration.hpp>

#include <cstddef>
#include <set>
#include <string>

namespace corozk::schedule {

namespace configuration_of_one_scenarios {

constexpr const char* path = "/f/c";
constexpr const char* last = "last";

/// How often it was written.
std::size_t times_written(stage& s) {
    if (!s.exists(path))
        return 0;
    return static_cast<std::size_t>(s.nodes().find(path)->version) + 1;
}

/// @return whether to go on: it is published, or another one has published since
awaitable<bool> publish_once(actor& a, configuration& mine, std::string value) {
    stage& s = a.on();
    s.note_down("tried", value);
    std::size_t before = times_written(s);
    s.remember(a.client_index(), before);
    // Not to be cancelled: it would go on in the background, and might be written after all others.
    auto firm = a.firm_token();
    auto [ec] = co_await mine.publish(value, firm);
    if (ec == zk_errc::connection_loss) {
        bool others_wrote = times_written(s) > before && s.data(path) != value;
        s.check(s.any_fault() && others_wrote, a.name() + ": unknown, and nobody else has written");
        co_return true;
    }
    if (ec) {
        bool silent = ec == errc::not_connected && s.happened(move_kind::silence);
        co_return silent || a.may_see(ec, "publish");
    }
    s.note_down("done", value);
    node_state shown = mine.current();
    bool newer = shown.exists && static_cast<std::size_t>(shown.stat.version) + 1 > before;
    s.check(newer || s.any_fault(), a.name() + ": its own object shows an older value");
    co_return true;
}

awaitable<void> write_both(actor& a) {
    noted_at_the_end over(a, "over");
    configuration mine(a.zk(), path);
    for (const char* number : {" 1", " 2"}) {
        bool more = co_await publish_once(a, mine, a.name() + number);
        if (!more)
            co_return;
    }
}

/// What the reader waits for.
awaitable<void> write_the_last(actor& a) {
    configuration mine(a.zk(), path);
    co_await until_noted(a, "over", 2);
    a.on().note_down("tried", last);
    for (;;) {
        auto firm = a.firm_token();
        auto [ec] = co_await mine.publish(last, firm);
        if (!ec)
            co_return;
        co_await pause();
    }
}

awaitable<void> read_to_the_last(actor& a) {
    configuration mine(a.zk(), path);
    std::set<std::string> seen;
    node_state now;
    for (std::string value; value != last;) {
        auto token = a.token();
        auto [ec, state] = co_await mine.next(now, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        now = state;
        if (!state.exists)
            continue;
        value = state.data;
        a.on().check(seen.insert(value).second, "what was overwritten comes again: " + value);
    }
}

void written_once(stage& s) {
    std::size_t written = times_written(s);
    s.check(written <= s.notes("tried").size(), "a value was written again");
    s.check(written >= s.notes("done").size(), "a value is lost");
    s.check(s.data(path) == last, "the last value is another one: " + s.data(path));
}

void two_writers(stage& s) {
    play_all(s, {{"a", write_both}, {"b", write_both}, {"reader", read_to_the_last}});
    s.play("ends it", 2, write_the_last);
    s.finally(written_once);
}

const registered all[] = {
    registered(scenario("configuration.node-2", 3, two_writers)),
    registered(scenario("configuration.node-2", 3, two_writers).in_a_folder()),
};

}  // namespace configuration_of_one_scenarios

}  // namespace corozk::schedule
