// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include "matrix/engine/stays_away.hpp"
#include <corozk/recipe/name_service.hpp>

#include <algorithm>

namespace corozk::matrix {

namespace name_service_scenarios {

awaitable<void> probe(client& c, stage& s) {
    name_service_options options = options_of<name_service_options>(s);
    options.replace = true;
    name_service names(c, s.folder(), options);
    co_await names.register_name("dir/a", "last");
    name_entry e = co_await names.resolve("dir/a");
    s.check(e.value == "last", "the next one's name has its value");
    co_await names.unregister("dir/a");
}

/// Another name.
awaitable<void> registers_too(client& c, stage& s) {
    name_service names(c, s.folder(), options_of<name_service_options>(s));
    co_await names.register_name("dir/b", "1", create_mode::ephemeral);
    co_await names.unregister("dir/b");
}

template <create_mode Mode>
awaitable<void> name(stage& s) {
    object<name_service> names(s, s.ours(), s.folder(), options_of<name_service_options>(s));
    std::string node = s.folder() + "/dir/a";
    call<> registering(s, "register_name");
    names->register_name("dir/a", "1", Mode, registering.token());
    co_await registering.result();
    co_await s.state("registered");
    // A persistent name goes with its folder; one of a session comes back.
    bool gone =
        Mode == create_mode::persistent && s.which() == fault::parent_deleted && s.applied();
    if (gone)
        throw scenario_over();
    co_await testing::eventually_async(
        [&] { return s.disturbed() || s.exists(node); }, s.patience(), "the name is there");
    call<name_entry> resolving(s, "resolve");
    names->resolve_for("dir/a", resolving.limit(), resolving.token());
    error_code ec = co_await resolving.ended();
    // Between two sessions it is away.
    if (ec == zk_errc::no_node && Mode == create_mode::ephemeral && ends_session(s.which()))
        throw scenario_over();
    name_entry e = co_await resolving.result();
    s.check(e.value == "1", "the name has its value");
    call<> unregistering(s, "unregister");
    names->unregister_for("dir/a", unregistering.limit(), unregistering.token());
    co_await unregistering.result();
    co_await stays_away(s, node, "unregistered");
}

/// Waits for a name that nobody has yet, and finds it in the list.
awaitable<void> look_up(stage& s) {
    name_service_options options = options_of<name_service_options>(s);
    name_service theirs(s.theirs(), s.folder(), options);
    object<name_service> names(s, s.ours(), s.folder(), options);
    call<name_entry> waiting(s, "await");
    names->await_for("dir/a", waiting.limit(), waiting.token());
    co_await s.state("nobody");
    co_await theirs.register_name("dir/a", "1");
    // The server tells nobody of changes of what he may not read.
    if (s.forbidden())
        co_return;
    name_entry e = co_await waiting.result();
    s.check(e.value == "1", "the name has its value");
    co_await s.state("registered");
    call<std::vector<name_entry>> listing(s, "list");
    names->list_for("dir", listing.limit(), listing.token());
    std::vector<name_entry> all = co_await listing.result();
    bool gone = s.which() == fault::parent_deleted;
    bool listed = std::any_of(all.begin(), all.end(), [](const name_entry& one) {
        return one.name == "a" && one.value == "1";
    });
    s.check(gone || listed, "the name is in the list");
    auto [ec] = co_await theirs.unregister("dir/a", as_tuple());
    s.check(!ec || gone, "their name could be taken away");
}

awaitable<void> follow(stage& s) {
    name_service_options options = options_of<name_service_options>(s);
    name_service theirs(s.theirs(), s.folder(), options);
    object<name_service> names(s, s.ours(), s.folder(), options);
    object<name_watch> watch(s, names->follow("dir/a"));
    for (bool there : {true, false}) {
        call<name_entry> first(s, "next");
        watch->next(first.token());
        const char* state = there ? "nobody" : "registered";
        co_await s.state(state);
        if (there) {
            co_await theirs.register_name("dir/a", "1");
            // The server tells nobody of changes of what he may not read.
            if (s.forbidden())
                co_return;
        } else {
            auto [ec] = co_await theirs.unregister("dir/a", as_tuple());
            // With its parent the name is gone.
            s.check(!ec || s.which() == fault::parent_deleted, "their name could be taken away");
        }
        name_entry e = co_await first.result();
        while (e.present != there) {
            call<name_entry> more(s, "next");
            watch->next(more.token());
            e = co_await more.result();
        }
    }
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "name_service";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.companion = registers_too;
    s.foreign_in = "/dir";
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "dir" || below == "dir/a";
    };
    return s;
}

const registered all[] = {
    registered(make("session name", name<create_mode::ephemeral>)),
    registered([] {
        scenario s = make("persistent name", name<create_mode::persistent>);
        s.without[fault::own_node_deleted] = "a persistent name is nobody's node";
        return s;
    }()),
    registered([] {
        scenario s = make("look up", look_up);
        s.needs_no_permission = true;  // to ask for a name that is not there
        s.without[fault::own_node_deleted] = "who looks has no node";
        s.without[fault::second_object] = "another name would be in the list";
        return s;
    }()),
    registered([] {
        scenario s = make("follow", follow);
        s.without[fault::own_node_deleted] = "who follows has no node";
        s.needs_no_permission = true;  // to ask for a name that is not there
        return s;
    }()),
};

}  // namespace name_service_scenarios

}  // namespace corozk::matrix
