// SPDX-License-Identifier: Apache-2.0
// Readers see whole versions only, in their order, and in the end the last one.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/configuration.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::schedule {

namespace configuration_scenarios {

constexpr const char* path = "/f/c";

configuration_parts version(const std::string& value) {
    configuration_parts parts;
    for (const char* name : {"one", "two"})
        parts[name] = value;
    return parts;
}

enum class writer_manner : bool { at_once, waits };

/// Publishes two versions, again where the session went.
template <class Layout, writer_manner Manner>
awaitable<void> write(actor& a) {
    Layout mine(a.zk(), path);
    for (const char* value : {"1", "2"}) {
        if (Manner == writer_manner::waits && *value == '2')
            co_await a.gate("published");
        for (;;) {
            auto firm = a.firm_token();
            auto [ec] = co_await mine.publish(version(value), firm);
            if (!ec)
                break;
            if (ec != errc::busy && !a.may_see(ec, "publish"))
                co_return;
            // The writer of our last session, perhaps.
            co_await pause();
        }
    }
}

template <class Layout>
awaitable<void> read(actor& a) {
    Layout mine(a.zk(), path);
    std::string last;
    configuration_version seen;
    while (last != "2") {
        auto token = a.token();
        auto [ec, v] = co_await mine.next(seen, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        seen = v;
        if (v.status != configuration_status::published)
            continue;
        bool whole = v.parts && v.parts->size() == 2 && *v.parts == version(v.parts->at("one"));
        a.on().check(whole, "a version is not whole");
        if (!whole)
            co_return;
        a.on().check(v.parts->at("one") >= last, "an older version comes later");
        last = v.parts->at("one");
    }
}

/// @return whether it is published, as far as the writer knows
template <class Layout>
awaitable<bool> publish_for_certain(actor& a, Layout& mine, const char* value) {
    for (;;) {
        auto firm = a.firm_token();
        auto [ec] = co_await mine.publish(version(value), firm);
        if (!ec)
            co_return true;
        // The last step's answer was lost, and another one has published since.
        bool unknown = ec == zk_errc::connection_loss && a.on().any_fault();
        if (ec != errc::busy && !unknown && !a.may_see(ec, "publish"))
            co_return false;
        co_await pause();
    }
}

template <class Layout>
awaitable<void> write_first_and_last(actor& a) {
    Layout mine(a.zk(), path);
    bool first = co_await publish_for_certain(a, mine, "1");
    if (!first)
        co_return;
    co_await until_noted(a, "over");
    co_await publish_for_certain(a, mine, "9");
}

template <class Layout>
awaitable<void> write_in_between(actor& a) {
    noted_at_the_end over(a, "over");
    Layout mine(a.zk(), path);
    co_await publish_for_certain(a, mine, "2");
}

template <class Layout>
awaitable<void> read_to_the_last(actor& a) {
    Layout mine(a.zk(), path);
    configuration_version seen;
    std::int64_t number = 0;
    for (std::string last; last != "9";) {
        auto token = a.token();
        auto [ec, v] = co_await mine.next(seen, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        seen = v;
        if (v.status != configuration_status::published)
            continue;
        last = v.parts->at("one");
        a.on().check(*v.parts == version(last), "a version is not whole");
        a.on().check(v.number > std::exchange(number, v.number), "an older version comes later");
    }
}

template <class Layout>
void two_writers(stage& s) {
    s.play("writer", 0, write_first_and_last<Layout>);
    s.play("other", 1, write_in_between<Layout>);
    s.play("reader", 2, read_to_the_last<Layout>);
}

template <class Layout>
void two_writers_in_one_session(stage& s) {
    s.play("writer", 0, write_first_and_last<Layout>);
    s.play("other", 0, write_in_between<Layout>);
    s.play("reader", 1, read_to_the_last<Layout>);
}

template <class Layout, writer_manner Manner = writer_manner::at_once>
void publish_and_read(stage& s) {
    s.play("writer", 0, write<Layout, Manner>);
    s.play("reader", 1, read<Layout>);
}

/// The first version is read before the second is published.
template <class Layout>
void publish_one_by_one(stage& s) {
    publish_and_read<Layout, writer_manner::waits>(s);
}

const registered all[] = {
    registered(scenario("configuration.ready", 2, publish_and_read<ready_configuration>)
                   .with_child_stats()),
    registered(scenario("configuration.ready", 2, publish_and_read<ready_configuration>)
                   .with_child_stats()
                   .at_old_servers()),
    registered::in_halves(
        scenario("configuration.ready-one-by-one", 2, publish_one_by_one<ready_configuration>)
            .with_child_stats()),
    registered(
        scenario("configuration.ready-2", 3, two_writers<ready_configuration>).with_child_stats()),
    registered(
        scenario("configuration.ready-2-in-1", 2, two_writers_in_one_session<ready_configuration>)
            .with_child_stats()),
    registered(scenario("configuration.versions", 2, publish_and_read<versioned_configuration>)
                   .with_child_stats()),
    registered(scenario("configuration.versions", 2, publish_and_read<versioned_configuration>)
                   .with_child_stats()
                   .at_old_servers()),
    registered(scenario("configuration.versions-2", 3, two_writers<versioned_configuration>)
                   .with_child_stats()),
};

}  // namespace configuration_scenarios

}  // namespace corozk::schedule
