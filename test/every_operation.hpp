// SPDX-License-Identifier: Apache-2.0
// What every operation of every recipe answers, asked about one path.
#pragma once

#include "tracked_handlers.hpp"
#include <corozk.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

class every_operation {
public:
    every_operation(client& zk, std::string path) : zk_(zk), path_(std::move(path)) {}

    /// All at once.
    /// @param root  the path is the root's, which some may be about: those are left out
    void ask_all(bool root = false) {
        ask_lines();
        ask_queues();
        ask_meetings();
        ask_commit();
        // These may be about the root.
        if (!root)
            ask_caches();
    }

    bool complete() const { return calls_ == asked_; }
    /// By the names of the operations.
    const std::map<std::string, error_code>& answers() const { return answers_; }
    const tracked_handlers& handlers() const { return handlers_; }
    std::size_t asked() const { return asked_; }

private:
    auto answered(std::string operation) {
        ++asked_;
        return handlers_.track(operation, [this, operation](error_code ec) {
            ++calls_;
            answers_.emplace(operation, ec);
        });
    }

    template <class Object, class... Arguments>
    Object& made(std::vector<std::shared_ptr<void>>& kept, Arguments&&... arguments) {
        auto object = std::make_shared<Object>(zk_, path_, std::forward<Arguments>(arguments)...);
        kept.push_back(object);
        return *object;
    }

    void ask_lines() {
        auto& l = made<lock>(objects_);
        l.acquire(answered("lock.acquire"));
        l.try_acquire(answered("lock.try_acquire"));
        l.list_contenders(answered("lock.list_contenders"));
        l.break_contender(path_ + "/x", answered("lock.break_contender"));
        auto& s = made<semaphore>(objects_, 2);
        s.acquire(1, answered("semaphore.acquire"));
        s.count_available(answered("semaphore.count_available"));
        s.list_holders(answered("semaphore.list_holders"));
        s.set_limit(3, answered("semaphore.set_limit"));
        auto& shared = made<shared_lock>(objects_);
        shared.acquire_read(answered("shared_lock.acquire_read"));
        shared.acquire_write(answered("shared_lock.acquire_write"));
        auto& urgent = made<priority_lock>(objects_);
        urgent.acquire(1, answered("priority_lock.acquire"));
        urgent.acquire_read(1, answered("priority_lock.acquire_read"));
        auto& campaign = made<election>(objects_);
        campaign.campaign(answered("election.campaign"));
        campaign.get_leader(answered("election.get_leader"));
        campaign.next_leader(election_leader(), answered("election.next_leader"));
        auto& line = made<contention_inspector>(objects_);
        line.list_contenders(answered("contention_inspector.list_contenders"));
        line.request_release(path_ + "/x", answered("contention_inspector.request_release"));
    }

    void ask_queues() {
        auto& q = made<queue>(objects_);
        q.put("x", answered("queue.put"));
        q.try_put("x", answered("queue.try_put"));
        q.put_many({"x"}, answered("queue.put_many"));
        q.try_put_many({"x"}, answered("queue.try_put_many"));
        q.take(answered("queue.take"));
        q.try_take(answered("queue.try_take"));
        q.take_until(std::chrono::steady_clock::now() + std::chrono::hours(1),
                     answered("queue.take_until"));
        q.peek(answered("queue.peek"));
        q.consume(answered("queue.consume"));
        q.try_consume(answered("queue.try_consume"));
        q.count_items(answered("queue.count_items"));
        auto& ordered = made<priority_queue>(objects_);
        ordered.put("x", 1, answered("priority_queue.put"));
        ordered.take(answered("priority_queue.take"));
        auto& delayed = made<delay_queue>(objects_);
        delayed.put("x", std::chrono::seconds(1), answered("delay_queue.put"));
        delayed.take(answered("delay_queue.take"));
        auto& c = made<counter>(objects_);
        c.get(answered("counter.get"));
        c.add(1, answered("counter.add"));
        c.exchange(1, answered("counter.exchange"));
        c.compare_and_set(1, 2, answered("counter.compare_and_set"));
        c.next(answered("counter.next"));
    }

    void ask_meetings() {
        auto& gate = made<barrier>(objects_);
        gate.set(answered("barrier.set"));
        gate.remove(answered("barrier.remove"));
        gate.check(answered("barrier.check"));
        gate.wait(answered("barrier.wait"));
        auto& room = made<double_barrier>(objects_, 2u);
        room.enter(answered("double_barrier.enter"));
        room.leave(answered("double_barrier.leave"));
        auto& group = made<membership>(objects_);
        group.join("me", "", answered("membership.join"));
        group.set_data("", answered("membership.set_data"));
        group.leave(answered("membership.leave"));
        group.list_members(answered("membership.list_members"));
        group.next(answered("membership.next"));
        auto& shards = made<partitioner>(objects_, std::vector<std::string>{"x"});
        shards.join("me", answered("partitioner.join"));
        shards.next(answered("partitioner.next"));
        shards.leave(answered("partitioner.leave"));
        auto& kept = made<persistent_node>(objects_);
        kept.keep("x", answered("persistent_node.keep"));
        kept.set_data("y", answered("persistent_node.set_data"));
        kept.erase(answered("persistent_node.erase"));
        kept.next_status(kept.status(), answered("persistent_node.next_status"));
        auto& point = made<rendezvous>(objects_);
        point.publish("x", answered("rendezvous.publish"));
        point.set_data("x", answered("rendezvous.set_data"));
        point.withdraw(answered("rendezvous.withdraw"));
        point.await(answered("rendezvous.await"));
        point.next(answered("rendezvous.next"));
    }

    void ask_commit() {
        auto& coordinator = made<commit_coordinator>(objects_);
        coordinator.begin({"a"}, "", answered("commit_coordinator.begin"));
        coordinator.resume(answered("commit_coordinator.resume"));
        coordinator.decide(answered("commit_coordinator.decide"));
        coordinator.abort("", answered("commit_coordinator.abort"));
        coordinator.clean_up(false, answered("commit_coordinator.clean_up"));
        auto& site = made<commit_site>(objects_, "a");
        site.join(answered("commit_site.join"));
        site.vote(commit_vote::commit, answered("commit_site.vote"));
        site.wait_outcome(answered("commit_site.wait_outcome"));
        site.finish(answered("commit_site.finish"));
        auto& ready = made<ready_configuration>(objects_);
        ready.next(answered("ready_configuration.next"));
        ready.publish({{"a", "1"}}, answered("ready_configuration.publish"));
        auto& versions = made<versioned_configuration>(objects_);
        versions.next(answered("versioned_configuration.next"));
        versions.publish({{"a", "1"}}, answered("versioned_configuration.publish"));
    }

    void ask_caches() {
        made<node_cache>(objects_).next(answered("node_cache.next"));
        made<children_cache>(objects_).next(answered("children_cache.next"));
        made<tree_cache>(objects_).next(answered("tree_cache.next"));
        auto& value = made<configuration>(objects_);
        value.next(answered("configuration.next"));
        value.publish("x", answered("configuration.publish"));
        auto& names = made<name_service>(objects_);
        names.register_name(
            "x", "", create_mode::ephemeral, answered("name_service.register_name"));
        names.resolve("x", answered("name_service.resolve"));
        names.await("x", answered("name_service.await"));
        names.list("", answered("name_service.list"));
        auto& services = made<service_discovery>(objects_);
        service_instance instance("web", "127.0.0.1", 80);
        services.register_instance(instance, answered("service_discovery.register_instance"));
        services.update(instance, answered("service_discovery.update"));
        services.unregister(instance, answered("service_discovery.unregister"));
        services.resolve("web", answered("service_discovery.resolve"));
        services.list_names(answered("service_discovery.list_names"));
        made<service_cache>(objects_, "web").next(answered("service_cache.next"));
        auto& provider = made<service_provider>(objects_, "web");
        provider.choose(answered("service_provider.choose"));
        provider.try_choose(answered("service_provider.try_choose"));
        provider.get_endpoints(answered("service_provider.get_endpoints"));
    }

    client& zk_;
    std::string path_;
    std::vector<std::shared_ptr<void>> objects_;
    std::map<std::string, error_code> answers_;
    tracked_handlers handlers_;
    std::size_t asked_ = 0;
    std::size_t calls_ = 0;
};

}  // namespace corozk::testing
