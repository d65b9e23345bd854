// SPDX-License-Identifier: Apache-2.0
// Every operation of every recipe refuses a path that cannot be, in the same words, and sends nothing.
#include "client_fixture.hpp"
#include <corozk.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// What every operation of all recipes answers about a path.
class answers {
public:
    answers(client& zk, std::string path) : zk_(zk), path_(std::move(path)) {}

    void ask_all(bool root) {
        ask_lines();
        ask_queues();
        ask_meetings();
        ask_commit();
        // These may be about the root.
        if (!root)
            ask_caches();
    }

    bool complete() const { return open_ == 0; }
    const std::vector<std::string>& others() const { return others_; }
    int asked() const { return asked_; }

private:
    /// A completion handler that notes whatever is no refusal.
    auto refused(std::string operation) {
        ++open_;
        ++asked_;
        return [this, operation](error_code ec, auto&&...) {
            --open_;
            if (ec != errc::bad_path)
                others_.push_back(operation + ": " + ec.message());
        };
    }

    template <class Object, class... Arguments>
    Object& made(std::vector<std::shared_ptr<void>>& kept, Arguments&&... arguments) {
        auto object = std::make_shared<Object>(zk_, path_, std::forward<Arguments>(arguments)...);
        kept.push_back(object);
        return *object;
    }

    void ask_lines() {
        auto& l = made<lock>(objects_);
        l.acquire(refused("lock.acquire"));
        l.try_acquire(refused("lock.try_acquire"));
        l.contenders(refused("lock.contenders"));
        l.break_contender(path_ + "/x", refused("lock.break_contender"));
        auto& s = made<semaphore>(objects_, 2);
        s.acquire(1, refused("semaphore.acquire"));
        s.available(refused("semaphore.available"));
        s.holders(refused("semaphore.holders"));
        s.set_limit(3, refused("semaphore.set_limit"));
        auto& shared = made<shared_lock>(objects_);
        shared.acquire_read(refused("shared_lock.acquire_read"));
        shared.acquire_write(refused("shared_lock.acquire_write"));
        auto& urgent = made<priority_lock>(objects_);
        urgent.acquire(1, refused("priority_lock.acquire"));
        urgent.acquire_read(1, refused("priority_lock.acquire_read"));
        auto& campaign = made<election>(objects_);
        campaign.campaign(refused("election.campaign"));
        campaign.leader(refused("election.leader"));
        campaign.next_leader(election_leader(), refused("election.next_leader"));
        auto& line = made<any_line>(objects_);
        line.contenders(refused("any_line.contenders"));
    }

    void ask_queues() {
        auto& q = made<queue>(objects_);
        q.put("x", refused("queue.put"));
        q.try_put("x", refused("queue.try_put"));
        q.put_many({"x"}, refused("queue.put_many"));
        q.take(refused("queue.take"));
        q.try_take(refused("queue.try_take"));
        q.take_until(std::chrono::steady_clock::now() + 1h, refused("queue.take_until"));
        q.peek(refused("queue.peek"));
        q.consume(refused("queue.consume"));
        q.try_consume(refused("queue.try_consume"));
        q.size(refused("queue.size"));
        auto& ordered = made<priority_queue>(objects_);
        ordered.put("x", 1, refused("priority_queue.put"));
        ordered.take(refused("priority_queue.take"));
        auto& delayed = made<delay_queue>(objects_);
        delayed.put("x", 1s, refused("delay_queue.put"));
        delayed.take(refused("delay_queue.take"));
        auto& c = made<counter>(objects_);
        c.get(refused("counter.get"));
        c.add(1, refused("counter.add"));
        c.exchange(1, refused("counter.exchange"));
        c.compare_and_set(1, 2, refused("counter.compare_and_set"));
    }

    void ask_meetings() {
        auto& gate = made<barrier>(objects_);
        gate.set(refused("barrier.set"));
        gate.remove(refused("barrier.remove"));
        gate.is_set(refused("barrier.is_set"));
        gate.wait(refused("barrier.wait"));
        auto& room = made<double_barrier>(objects_, 2u);
        room.enter(refused("double_barrier.enter"));
        room.leave(refused("double_barrier.leave"));
        auto& group = made<membership>(objects_);
        group.join("me", "", refused("membership.join"));
        group.set_data("", refused("membership.set_data"));
        group.leave(refused("membership.leave"));
        group.members(refused("membership.members"));
        group.next_change(refused("membership.next_change"));
        auto& point = made<rendezvous>(objects_);
        point.publish("x", refused("rendezvous.publish"));
        point.update("x", refused("rendezvous.update"));
        point.withdraw(refused("rendezvous.withdraw"));
        point.await(refused("rendezvous.await"));
        point.next(refused("rendezvous.next"));
    }

    void ask_commit() {
        auto& coordinator = made<commit_coordinator>(objects_);
        coordinator.begin({"a"}, "", refused("commit_coordinator.begin"));
        coordinator.resume(refused("commit_coordinator.resume"));
        coordinator.decide(refused("commit_coordinator.decide"));
        coordinator.abort("", refused("commit_coordinator.abort"));
        coordinator.clean_up(false, refused("commit_coordinator.clean_up"));
        auto& site = made<commit_site>(objects_, "a");
        site.join(refused("commit_site.join"));
        site.vote(commit_vote::commit, refused("commit_site.vote"));
        site.outcome(refused("commit_site.outcome"));
        site.finish(refused("commit_site.finish"));
        auto& ready = made<ready_configuration>(objects_);
        ready.next(0, refused("ready_configuration.next"));
        ready.publish({{"a", "1"}}, refused("ready_configuration.publish"));
        auto& versions = made<versioned_configuration>(objects_);
        versions.next(0, refused("versioned_configuration.next"));
        versions.publish({{"a", "1"}}, refused("versioned_configuration.publish"));
    }

    void ask_caches() {
        made<node_cache>(objects_).next(0, refused("node_cache.next"));
        made<children_cache>(objects_).next(0, refused("children_cache.next"));
        made<tree_cache>(objects_).next(0, refused("tree_cache.next"));
        auto& value = made<configuration>(objects_);
        value.next(0, refused("configuration.next"));
        value.publish("x", refused("configuration.publish"));
        auto& names = made<name_service>(objects_);
        names.register_name("x", "", name_lifetime::session, refused("name_service.register_name"));
        names.resolve("x", refused("name_service.resolve"));
        names.list("", refused("name_service.list"));
    }

    client& zk_;
    std::string path_;
    std::vector<std::shared_ptr<void>> objects_;
    std::vector<std::string> others_;
    int open_ = 0;
    int asked_ = 0;
};

}  // namespace

TEST_CASE("bad paths: refused by every operation of every recipe, and nothing is sent") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        for (std::string path : {"",
                                 "/",
                                 "relative",
                                 "/trailing/",
                                 "/a//b",
                                 "/a/../b",
                                 "/a/.",
                                 "/a\x01"
                                 "b"}) {
            CAPTURE(path);
            auto before = zk.counters().requests;
            answers a(zk, path);
            a.ask_all(path == "/");
            co_await eventually_async([&] { return a.complete(); });
            CHECK(a.others() == std::vector<std::string>());
            CHECK(a.asked() > 50);
            CHECK(zk.counters().requests == before);
        }
    });
}

TEST_CASE("bad paths: a queue's folder for control, too") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue_options options;
        options.control_path = "relative";
        queue q(zk, path + "/q", options);
        auto [ec, none] = co_await q.take(as_tuple());
        CHECK(ec == errc::bad_path);
    });
}
