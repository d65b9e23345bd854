// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/configuration.hpp>

#include <chrono>

namespace corozk::matrix {

namespace configuration_scenarios {

std::string path(const stage& s) {
    return s.folder() + "/c";
}

bool is_the_node(stage&, const std::string& below) {
    return below == "c" || below.starts_with("c/");
}

/// Parts that show whether they are of one version; of the second one a part less.
configuration_parts version(const std::string& value) {
    configuration_parts parts;
    for (const char* name : {"one", "two", "three"})
        parts[name] = value;
    if (value == "2")
        parts.erase("three");
    return parts;
}

bool is_whole(const configuration_version& v) {
    return v.parts && !v.parts->empty() && *v.parts == version(v.parts->begin()->second);
}

template <class Layout>
awaitable<void> publish_and_read(client& c, stage& s, std::string value) {
    Layout mine(c, path(s), options_of<configuration_options>(s));
    configuration_parts parts = version(value);
    auto deadline = std::chrono::steady_clock::now() + s.patience();
    error_code ec = errc::busy;
    // What was cancelled is finished in the background; meanwhile there is another writer.
    while (ec == errc::busy && std::chrono::steady_clock::now() < deadline) {
        auto [result] = co_await mine.publish(parts, as_tuple());
        ec = result;
    }
    s.check(!ec, "the next one publishes: " + ec.message());
    if (ec)
        co_return;
    configuration_version v = co_await mine.next();
    while (v.status != configuration_status::published || *v.parts != parts)
        v = co_await mine.next(v);
}

template <class Layout>
awaitable<void> probe(client& c, stage& s) {
    co_await publish_and_read<Layout>(c, s, "last");
}

/// Another one of the session reads.
template <class Layout>
awaitable<void> reads_too(client& c, stage& s) {
    Layout mine(c, path(s), options_of<configuration_options>(s));
    configuration_version v = co_await mine.next();
    s.check(v.status != configuration_status::published || is_whole(v), "a version is whole");
}

template <class Layout>
awaitable<void> publish(stage& s) {
    object<Layout> mine(s, s.ours(), path(s), options_of<configuration_options>(s));
    for (const char* value : {"1", "2"}) {
        call<> publishing(s, "publish");
        mine->publish(version(value), publishing.token());
        if (co_await publishing.ended() == boost::asio::error::operation_aborted)
            s.note("cancelled", value);
        co_await publishing.result();
        s.note("published", value);
        std::string name = std::string("published ") + value;
        co_await s.state(name);
    }
}

template <class Layout>
awaitable<void> read(stage& s) {
    configuration_options options = options_of<configuration_options>(s);
    Layout theirs(s.theirs(), path(s), options);
    configuration_parts parts = version("1");
    co_await theirs.publish(parts);
    object<Layout> mine(s, s.ours(), path(s), options);
    configuration_version v;
    for (const char* value : {"1", "2"}) {
        if (*value == '2') {
            parts = version("2");
            co_await theirs.publish(parts);
        }
        do {
            call<configuration_version> reading(s, "next");
            mine->next(v, reading.token());
            v = co_await reading.result();
            s.check(v.status != configuration_status::published || is_whole(v),
                    "a version is whole");
            // Its parent was deleted: it stays away.
            if (s.which() == fault::parent_deleted && s.applied())
                co_return;
        } while (v.status != configuration_status::published || *v.parts != version(value));
        std::string name = std::string("read ") + value;
        co_await s.state(name);
    }
}

/// A reader has one whole version, the last one that was published or a later one.
template <class Layout>
awaitable<void> whole(stage& s) {
    Layout reader(s.theirs(), path(s), options_of<configuration_options>(s));
    configuration_version v = co_await reader.next();
    // A cancelled publication is finished in the background.
    if (cancels(s.which()) && !s.notes("cancelled").empty()) {
        const configuration_parts parts = version(s.notes("cancelled").front());
        while (v.status != configuration_status::published || *v.parts != parts)
            v = co_await reader.next(v);
    }
    if (v.status == configuration_status::published) {
        s.check(is_whole(v), "a version is whole");
        const auto& published = s.notes("published");
        if (!published.empty() && is_whole(v))
            s.check(v.parts->begin()->second >= published.back(), "no version is lost");
    } else if (v.status == configuration_status::broken) {
        // The writer has died half-way; where it has not, it goes on.
        s.check(ends_session(s.which()) || s.which() == fault::close_client ||
                    s.which() == fault::destroy_client || s.which() == fault::parent_deleted ||
                    deletes_own(s.which()),
                "only a dead writer leaves a broken version");
    } else {
        s.check(s.notes("published").empty() || s.which() == fault::parent_deleted,
                "what was published is there");
    }
}

template <class Layout>
scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "configuration";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe<Layout>;
    s.companion = reads_too<Layout>;
    s.invariant = whole<Layout>;
    s.may_stay = is_the_node;
    s.foreign_in = "/c";
    // The last step's answer, and the session with it.
    for (fault f : {fault::expired, fault::long_hole, fault::client_stopped})
        s.may_end_with[f] = {zk_errc::connection_loss};
    return s;
}

template <class Layout>
scenario make_reader(std::string name) {
    scenario s = make<Layout>(std::move(name), read<Layout>);
    s.outlives_session = true;
    s.may_end_with.clear();
    s.without[fault::own_node_deleted] = "a reader has no node";
    return s;
}

/// One znode: ours publishes, and somebody else's value comes in between.
awaitable<void> publish_one(stage& s) {
    configuration theirs(s.theirs(), path(s), options_of<configuration_options>(s));
    object<configuration> mine(s, s.ours(), path(s), options_of<configuration_options>(s));
    node_state state;
    for (const char* value : {"1", "2"}) {
        call<> publishing(s, "publish");
        mine->publish(value, publishing.token());
        co_await publishing.result();
        s.note("published", value);
        std::string name = std::string("published ") + value;
        co_await s.state(name);
        if (s.which() == fault::parent_deleted && s.applied())
            throw scenario_over();
        state = co_await theirs.next(state);
        while (state.data != value)
            state = co_await theirs.next(state);
    }
}

/// Somebody else publishes, and is read.
awaitable<void> probe_one(client& c, stage& s) {
    configuration theirs(c, path(s), options_of<configuration_options>(s));
    co_await theirs.publish("last");
    node_state state = co_await theirs.next();
    while (state.data != "last")
        state = co_await theirs.next(state);
}

/// What was published last is there, or what was published after it.
awaitable<void> value_is_kept(stage& s) {
    if (s.notes("published").empty() || s.which() == fault::parent_deleted)
        co_return;
    s.check(s.data(path(s)) >= s.notes("published").back(), "no value is lost");
}

constexpr const char* children_are_parts =
    "every child is a part, and replaced by the next version";

const registered all[] = {
    registered([] {
        scenario s = make<ready_configuration>("ready, publish", publish<ready_configuration>);
        s.without[fault::foreign_children] = children_are_parts;
        return s;
    }()),
    registered([] {
        scenario s = make_reader<ready_configuration>("ready, read");
        s.without[fault::foreign_children] = children_are_parts;
        return s;
    }()),
    registered(
        make<versioned_configuration>("versions, publish", publish<versioned_configuration>)),
    registered(make_reader<versioned_configuration>("versions, read")),
    registered([] {
        scenario s;
        s.recipe = "configuration";
        s.name = "one node, publish";
        // Nothing was sent in the time allowed.
        s.may_end_with[fault::long_hole] = {errc::not_connected};
        s.play = publish_one;
        s.probe = probe_one;
        s.invariant = value_is_kept;
        s.outlives_session = true;
        s.may_stay = is_the_node;
        s.without[fault::own_node_deleted] = "the configuration is nobody's node";
        s.without[fault::second_object] = "it would publish in between";
        return s;
    }()),
};

}  // namespace configuration_scenarios

}  // namespace corozk::matrix
