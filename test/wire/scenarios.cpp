// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include "bounded_wait.hpp"

namespace corozk::wire {

namespace {

using boost::asio::awaitable;

awaitable<void> operations(client& c, std::string folder) {
    std::string node = folder + "/node";
    // Its response comes outside the order of the others, so that none of them shows that it was lost.
    co_await for_a_second(c.add_auth("digest", "somebody:secret"));
    co_await c.ensure_path(folder);
    co_await c.create(node, "1");
    watched_data seen = co_await c.watch_data(node);
    co_await c.set(node, "2");
    co_await for_a_second(seen.changed.next());
    co_await c.get(node);
    co_await c.exists(node);
    watched_children listed = co_await c.watch_children(folder);
    co_await c.get_acl(node);
    co_await c.set_acl(node, open_acl());
    transaction steps;
    steps.create(folder + "/other", "x").set(node, "3").check(node).erase(folder + "/other");
    co_await c.commit(steps);
    co_await for_a_second(listed.changed.next());
    co_await c.sync(node);
    co_await c.erase(node);
    co_await c.get_children(folder);
    co_await c.get_config();
}

/// Requests that ZooKeeper's C client cannot make.
awaitable<void> other_requests(client& c, std::string folder) {
    std::string node = folder + "/node";
    co_await c.ensure_path(folder);
    co_await c.create(node, "1");
    read_set reads;
    reads.get(node).children(folder).get(folder + "/none");
    co_await c.read_all(reads);
    create_options container;
    container.mode = create_mode::container;
    transaction steps;
    steps.create(folder + "/container", "", container).set(node, "2").check(node);
    co_await c.commit(steps);
    co_await c.get_ephemerals("/");
    co_await c.count_descendants(folder);
    co_await c.who_am_i();
}

awaitable<void> persistent_watches(client& c, std::string folder) {
    co_await c.ensure_path(folder);
    persistent_watch names = co_await c.add_watch(folder, watch_mode::persistent);
    persistent_watch all = co_await c.add_watch(folder, watch_mode::persistent_recursive);
    watched_data seen = co_await c.watch_data(folder);
    watched_children listed = co_await c.watch_children(folder);
    co_await c.create(folder + "/node", "1");
    co_await c.set(folder, "2");
    co_await for_a_second(all.next());
    co_await for_a_second(names.next());
    co_await for_a_second(listed.changed.next());
    co_await for_a_second(seen.changed.next());
    all = persistent_watch();
    names = persistent_watch();
    co_await c.sync(folder);
}

}  // namespace

const std::vector<scenario>& all_scenarios() {
    static const std::vector<scenario> all = [] {
        std::vector<scenario> collected{{"operations", operations},
                                        {"other_requests", other_requests},
                                        {"persistent_watches", persistent_watches}};
        for (const std::vector<scenario>* some : {&line_scenarios(),
                                                  &inspection_scenarios(),
                                                  &queue_scenarios(),
                                                  &data_scenarios(),
                                                  &barrier_scenarios()})
            collected.insert(collected.end(), some->begin(), some->end());
        return collected;
    }();
    return all;
}

}  // namespace corozk::wire
