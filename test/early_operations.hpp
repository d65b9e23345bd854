// SPDX-License-Identifier: Apache-2.0
// Operations of the client and of every recipe that end well by themselves, once there is a
// connection; and those that take a time limit.
#pragma once

#include "tracked_handlers.hpp"
#include <corozk.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

class early_operations {
    auto answered(std::string operation) {
        waiting_.insert(operation);
        return handlers_.track(operation, [this, operation](error_code ec) {
            ++ended_;
            waiting_.erase(waiting_.find(operation));
            answers_.emplace(operation, ec);
        });
    }

public:
    /// Each gets a node of its own below the path.
    early_operations(client& zk, std::string path) : zk_(zk), path_(std::move(path)) {}

    /// Each of them, as often as is needed for each to end well.
    void ask_all() {
        ask_client();
        ask_owners();
        ask_queues();
        ask_meetings();
        ask_commit();
        ask_values();
    }

    /// The same with a time limit, where there is one; none of them can end well while nobody is
    /// connected.
    void ask_limited(time_limit limit) {
        auto deadline = limit.from_now();
        made<lock>("l").acquire_for(limit, answered("lock.acquire_for"));
        made<lock>("lu").acquire_until(deadline, answered("lock.acquire_until"));
        auto& shared = made<shared_lock>("s");
        shared.acquire_read_for(limit, answered("shared_lock.acquire_read_for"));
        shared.acquire_write_for(limit, answered("shared_lock.acquire_write_for"));
        made<semaphore>("sem", 1).acquire_for(1, limit, answered("semaphore.acquire_for"));
        auto& urgent = made<priority_lock>("p");
        urgent.acquire_for(1, limit, answered("priority_lock.acquire_for"));
        urgent.acquire_read_for(1, limit, answered("priority_lock.acquire_read_for"));
        made<election>("e").campaign_for(limit, answered("election.campaign_for"));
        both_locks().acquire_for(limit, answered("multi_lock.acquire_for"));
        made<semaphore>("sem", 1).acquire_until(deadline, answered("semaphore.acquire_until"));
        auto& latch = made<leader_latch>("latch");
        latch.start();
        latch.wait_leadership_until(deadline, answered("leader_latch.wait_leadership_until"));
        latch.wait_leadership_for(limit, answered("leader_latch.wait_leadership_for"));
        auto& q = made<queue>("q");
        q.put_until("x", deadline, answered("queue.put_until"));
        q.take_until(deadline, answered("queue.take_until"));
        q.consume_until(deadline, answered("queue.consume_until"));
        made<priority_queue>("pq").put_until(
            "x", 1, deadline, answered("priority_queue.put_until"));
        made<delay_queue>("dq").put_until(
            "x", std::chrono::seconds(0), deadline, answered("delay_queue.put_until"));
        auto& gate = made<barrier>("b");
        gate.wait_for(limit, answered("barrier.wait_for"));
        gate.set_for(limit, answered("barrier.set_for"));
        gate.set_until(deadline, answered("barrier.set_until"));
        gate.remove_for(limit, answered("barrier.remove_for"));
        gate.remove_until(deadline, answered("barrier.remove_until"));
        gate.check_for(limit, answered("barrier.check_for"));
        gate.check_until(deadline, answered("barrier.check_until"));
        made<double_barrier>("d", 1u).enter_for(limit, answered("double_barrier.enter_for"));
        made<double_barrier>("pd", 1u, in_format(compatibility::curator))
            .enter_for(limit, answered("double_barrier.enter_for as Curator"));
        auto& group = made<membership>("m");
        group.join_for("me", "", limit, answered("membership.join_for"));
        group.list_members_for(limit, answered("membership.list_members_for"));
        group.list_members_until(deadline, answered("membership.list_members_until"));
        const std::vector<std::string> shards{"x"};
        made<partitioner>("sh", shards).join_for("me", limit, answered("partitioner.join_for"));
        made<partitioner>("sh", shards)
            .join_until("me2", deadline, answered("partitioner.join_until"));
        auto& point = made<rendezvous>("r");
        point.publish_for("x", limit, answered("rendezvous.publish_for"));
        point.await_for(limit, answered("rendezvous.await_for"));
        made<persistent_node>("k").keep_for("x", limit, answered("persistent_node.keep_for"));
        auto& names = made<name_service>("n");
        names.await_for("x", limit, answered("name_service.await_for"));
        names.resolve_for("x", limit, answered("name_service.resolve_for"));
        names.resolve_until("x", deadline, answered("name_service.resolve_until"));
        names.list_for("", limit, answered("name_service.list_for"));
        names.list_until("", deadline, answered("name_service.list_until"));
        names.unregister_for("x", limit, answered("name_service.unregister_for"));
        names.unregister_until("x", deadline, answered("name_service.unregister_until"));
        auto& services = made<service_discovery>("sd");
        service_instance instance("web", "127.0.0.1", 80);
        services.register_instance_for(
            instance, limit, answered("service_discovery.register_instance_for"));
        service_instance lasting("web", "127.0.0.1", 81);
        lasting.type = service_type::permanent;
        services.update_for(lasting, limit, answered("service_discovery.update_for"));
        services.update_until(lasting, deadline, answered("service_discovery.update_until"));
        services.unregister_for("web", "x", limit, answered("service_discovery.unregister_for"));
        services.unregister_until(
            "web", "x", deadline, answered("service_discovery.unregister_until"));
        services.resolve_for("web", limit, answered("service_discovery.resolve_for"));
        services.resolve_until("web", deadline, answered("service_discovery.resolve_until"));
        services.list_names_for(limit, answered("service_discovery.list_names_for"));
        services.list_names_until(deadline, answered("service_discovery.list_names_until"));
        auto& provider = made<service_provider>("sd", "web");
        provider.choose_for(limit, answered("service_provider.choose_for"));
        provider.get_endpoints_for(limit, answered("service_provider.get_endpoints_for"));
        made<commit_site>("tx", "a").join_for(limit, answered("commit_site.join_for"));
        auto& coordinator = made<commit_coordinator>("tx");
        coordinator.begin_for({"a"}, "", limit, answered("commit_coordinator.begin_for"));
        coordinator.begin_until({"a"}, "", deadline, answered("commit_coordinator.begin_until"));
        coordinator.resume_for(limit, answered("commit_coordinator.resume_for"));
        coordinator.resume_until(deadline, answered("commit_coordinator.resume_until"));
        coordinator.abort_for("why", limit, answered("commit_coordinator.abort_for"));
        coordinator.abort_until("why", deadline, answered("commit_coordinator.abort_until"));
        coordinator.clean_up_for(true, limit, answered("commit_coordinator.clean_up_for"));
        coordinator.clean_up_until(true, deadline, answered("commit_coordinator.clean_up_until"));
        auto& numbers = made<counter>("cn");
        numbers.get_for(limit, answered("counter.get_for"));
        numbers.add_for(1, limit, answered("counter.add_for"));
        numbers.exchange_for(1, limit, answered("counter.exchange_for"));
        numbers.compare_and_set_for(0, 1, limit, answered("counter.compare_and_set_for"));
        auto& value = made<configuration>("cf");
        value.publish_for("x", limit, answered("configuration.publish_for"));
        made<ready_configuration>("cr").publish_for(
            {}, limit, answered("ready_configuration.publish_for"));
        made<versioned_configuration>("cv").publish_for(
            {}, limit, answered("versioned_configuration.publish_for"));
        q.put_for("x", limit, answered("queue.put_for"));
        q.take_for(limit, answered("queue.take_for"));
        q.consume_for(limit, answered("queue.consume_for"));
        made<priority_queue>("pq").put_for("x", 1, limit, answered("priority_queue.put_for"));
        made<delay_queue>("dq").put_for(
            "x", std::chrono::seconds(0), limit, answered("delay_queue.put_for"));
        made<counter>("cn").get_until(deadline, answered("counter.get_until"));
        made<counter>("cn").add_until(1, deadline, answered("counter.add_until"));
        made<counter>("cn").exchange_until(1, deadline, answered("counter.exchange_until"));
        made<counter>("cn").compare_and_set_until(
            0, 1, deadline, answered("counter.compare_and_set_until"));
        made<configuration>("cf").publish_until(
            "x", deadline, answered("configuration.publish_until"));
        made<versioned_configuration>("cv").publish_until(
            {}, deadline, answered("versioned_configuration.publish_until"));
        made<barrier>("b").wait_until(deadline, answered("barrier.wait_until"));
        made<double_barrier>("d", 1u).enter_until(deadline, answered("double_barrier.enter_until"));
        made<membership>("m").join_until("me2", "", deadline, answered("membership.join_until"));
        auto& second_point = made<rendezvous>("r");
        second_point.publish_until("x", deadline, answered("rendezvous.publish_until"));
        second_point.await_until(deadline, answered("rendezvous.await_until"));
        made<persistent_node>("k").keep_until(
            "x", deadline, answered("persistent_node.keep_until"));
        made<name_service>("n").await_until("x", deadline, answered("name_service.await_until"));
        service_instance second_instance("web", "127.0.0.1", 80);
        services.register_instance_until(
            second_instance, deadline, answered("service_discovery.register_instance_until"));
        provider.choose_until(deadline, answered("service_provider.choose_until"));
        provider.get_endpoints_until(deadline, answered("service_provider.get_endpoints_until"));
        made<commit_site>("tx", "b").join_until(deadline, answered("commit_site.join_until"));
    }

    /// The names of those that have not ended.
    const std::multiset<std::string>& waiting() const { return waiting_; }
    std::size_t ended() const { return ended_; }
    /// By the names of the operations.
    const std::map<std::string, error_code>& answers() const { return answers_; }
    tracked_handlers& handlers() { return handlers_; }

private:
    std::string at(const std::string& name) const { return path_ + "/" + name; }

    template <class Object, class... Arguments>
    Object& made(const std::string& name, Arguments&&... arguments) {
        auto object =
            std::make_shared<Object>(zk_, at(name), std::forward<Arguments>(arguments)...);
        objects_.push_back(object);
        return *object;
    }

    static double_barrier_options in_format(compatibility whose) {
        double_barrier_options options;
        options.compatibility = whose;
        return options;
    }

    multi_lock& both_locks() {
        auto all = std::make_shared<multi_lock>(zk_);
        all->add(made<lock>("multi-a")).add(made<lock>("multi-b"));
        objects_.push_back(all);
        return *all;
    }

    void ask_client() {
        zk_.exists("/", answered("exists"));
        zk_.get("/", answered("get"));
        zk_.get_children("/", answered("get_children"));
        zk_.sync("/", answered("sync"));
        zk_.ensure_path(at("made"), create_options(), answered("ensure_path"));
        zk_.create(path_ + "-created", "x", create_options(), answered("create"));
        zk_.erase_tree(path_ + "-created", answered("erase_tree"));
        transaction steps;
        steps.create(path_ + "-committed", "x");
        zk_.commit(steps, answered("commit"));
        zk_.commit(transaction(), answered("commit of nothing"));
        zk_.add_auth("digest", "user:password", answered("add_auth"));
        zk_.watch_exists(at("watched"), answered("watch_exists"));
    }

    void ask_owners() {
        auto& l = made<lock>("l");
        l.acquire(answered("lock.acquire"));
        l.list_contenders(answered("lock.list_contenders"));
        made<shared_lock>("sr").acquire_read(answered("shared_lock.acquire_read"));
        made<shared_lock>("sw").acquire_write(answered("shared_lock.acquire_write"));
        auto& s = made<semaphore>("sem", 1);
        s.acquire(1, answered("semaphore.acquire"));
        s.count_available(answered("semaphore.count_available"));
        made<priority_lock>("p").acquire(1, answered("priority_lock.acquire"));
        auto& e = made<election>("e");
        e.campaign(answered("election.campaign"));
        e.get_leader(answered("election.get_leader"));
        both_locks().acquire(answered("multi_lock.acquire"));
        auto& latch = made<leader_latch>("latch");
        latch.start();
        latch.wait_leadership(answered("leader_latch.wait_leadership"));
        made<contention_inspector>("l").list_contenders(
            answered("contention_inspector.list_contenders"));
    }

    void ask_queues() {
        auto& q = made<queue>("q");
        q.take(answered("queue.take"));
        q.consume(answered("queue.consume"));
        q.put("x", answered("queue.put"));
        q.put_many({"x", "y"}, answered("queue.put_many"));
        q.count_items(answered("queue.count_items"));
        made<priority_queue>("pq").put("x", 1, answered("priority_queue.put"));
        made<delay_queue>("dq").put("x", std::chrono::seconds(0), answered("delay_queue.put"));
        auto& c = made<counter>("c");
        c.add(1, answered("counter.add"));
        c.get(answered("counter.get"));
        c.exchange(2, answered("counter.exchange"));
        c.next(answered("counter.next"));
    }

    void ask_meetings() {
        auto& gate = made<barrier>("b");
        gate.check(answered("barrier.check"));
        gate.wait(answered("barrier.wait"));
        made<barrier>("bs").set(answered("barrier.set"));
        made<double_barrier>("d", 1u).enter(answered("double_barrier.enter"));
        made<double_barrier>("pd", 1u, in_format(compatibility::kazoo))
            .enter(answered("double_barrier.enter as Kazoo"));
        made<persistent_node>("k").keep("x", answered("persistent_node.keep"));
        auto& group = made<membership>("m");
        group.join("me", "", answered("membership.join"));
        group.list_members(answered("membership.list_members"));
        group.next(answered("membership.next"));
        auto& shards = made<partitioner>("sh", std::vector<std::string>{"x"});
        shards.join("me", answered("partitioner.join"));
        shards.next(answered("partitioner.next"));
        auto& point = made<rendezvous>("r");
        point.publish("x", answered("rendezvous.publish"));
        point.await(answered("rendezvous.await"));
        point.next(answered("rendezvous.next"));
        auto& names = made<name_service>("n");
        names.register_name("x", "1", create_mode::ephemeral, answered("register_name"));
        names.register_name("y", "1", create_mode::persistent, answered("register for ever"));
        names.await_for("x", time_limit::for_ever(), answered("name_service.await_for"));
        names.list("", answered("name_service.list"));
        auto& services = made<service_discovery>("sd");
        service_instance instance("web", "127.0.0.1", 80);
        services.register_instance(instance, answered("service_discovery.register_instance"));
        service_instance lasting("web", "127.0.0.1", 81);
        lasting.type = service_type::permanent;
        services.register_instance(lasting, answered("register a permanent instance"));
        services.resolve("web", answered("service_discovery.resolve"));
        services.list_names(answered("service_discovery.list_names"));
        made<service_cache>("sd", "web").next(answered("service_cache.next"));
        auto& provider = made<service_provider>("sd", "web");
        provider.choose(answered("service_provider.choose"));
        provider.get_endpoints(answered("service_provider.get_endpoints"));
    }

    void ask_commit() {
        made<commit_coordinator>("tx").begin({"a"}, "", answered("commit_coordinator.begin"));
        made<commit_site>("tx", "a").join(answered("commit_site.join"));
    }

    void ask_values() {
        auto& value = made<configuration>("value");
        value.publish("x", answered("configuration.publish"));
        value.next(answered("configuration.next"));
        made<ready_configuration>("ready").publish({{"a", "1"}}, answered("ready.publish"));
        made<versioned_configuration>("versions")
            .publish({{"a", "1"}}, answered("versioned.publish"));
        made<node_cache>("value").next(answered("node_cache.next"));
        made<children_cache>("value").next(answered("children_cache.next"));
        made<tree_cache>("value").next(answered("tree_cache.next"));
    }

    client& zk_;
    std::string path_;
    std::vector<std::shared_ptr<void>> objects_;
    std::map<std::string, error_code> answers_;
    std::multiset<std::string> waiting_;
    tracked_handlers handlers_;
    std::size_t ended_ = 0;
};

}  // namespace corozk::testing
