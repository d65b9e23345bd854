// SPDX-License-Identifier: Apache-2.0
// Somebody destroys an object while it is used, and another client does the like: what waits is told
// so, what goes on goes on, and nothing is left.
#include "patience.hpp"
#include "queues.hpp"
#include "turns.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/two_phase_commit.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace corozk::schedule {

namespace {

constexpr std::chrono::seconds a_while{20};

/// @return whether to go on with the object
template <class Object>
bool goes_on(actor& a,
             const std::optional<Object>& object,
             const error_code& ec,
             const char* during) {
    if (!object && ec == boost::asio::error::operation_aborted)
        return false;
    return a.may_see(ec, during) && !ec && object;
}

/// What gives up after a while has done no wrong.
bool has_waited(actor& a, const error_code& ec, const char* during) {
    return ec == errc::deadline_exceeded || a.may_see(ec, during);
}

template <class Object>
using use_of = awaitable<void> (*)(actor&, std::optional<Object>&);

template <class Object>
awaitable<void> destroy(actor& a, std::shared_ptr<std::optional<Object>> object) {
    co_await a.gate("destroying");
    object->reset();
}

/// The first client uses the object; at some time it is destroyed.
template <class Object>
void play_until_destroyed(stage& s, Object made, use_of<Object> use) {
    auto object = std::make_shared<std::optional<Object>>(std::move(made));
    s.play("user", 0, [object, use](actor& a) { return use(a, *object); });
    s.play("destroys", 0, [object](actor& a) { return destroy(a, object); });
}

// What goes on without its object ---------------------------------------------------------------

awaitable<void> hold(actor& a, ownership held) {
    {
        stage::tenure owner(a, held);
        co_await a.gate("holding");
    }
    co_await give_back(a, held);
}

awaitable<void> use_lock(actor& a, std::optional<lock>& l) {
    if (!l)
        co_return;
    auto token = a.token();
    auto [ec, held] = co_await l->acquire(token);
    if (a.may_see(ec, "acquire") && !ec)
        co_await hold(a, std::move(held));
}

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
}

void a_lock(stage& s) {
    play_until_destroyed(s, lock(s.zk(0), folder), use_lock);
    s.play("b", 1, contend);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_priority_lock(actor& a, std::optional<priority_lock>& l) {
    if (!l)
        co_return;
    auto token = a.token();
    auto [ec, held] = co_await l->acquire(1, token);
    if (a.may_see(ec, "acquire") && !ec)
        co_await hold(a, std::move(held));
}

awaitable<void> contend_by_priority(actor& a) {
    priority_lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(0, token); };
    turn_rule rule;
    rule.may_be_ahead = [](const std::string&) { return true; };
    co_await have_a_turn(a, acquire, rule);
}

void a_priority_lock(stage& s) {
    play_until_destroyed(s, priority_lock(s.zk(0), folder), use_priority_lock);
    s.play("b", 1, contend_by_priority);
    s.leaves_nothing_in(folder);
}

// What ends with its object ---------------------------------------------------------------------

awaitable<void> use_latch(actor& a, std::optional<leader_latch>& latch) {
    if (!latch)
        co_return;
    latch->start();
    auto token = a.token();
    auto [ec, fencing_token] = co_await latch->leadership(token);
    if (!goes_on(a, latch, ec, "leadership"))
        co_return;
    std::string path = latch->term_path();
    auto leads = [&latch, path] {
        return latch && latch->has_leadership() && latch->term_path() == path;
    };
    stage::tenure owner(a, path, leads);
    co_await a.gate("leading");
}

awaitable<void> lead(actor& a) {
    leader_latch latch(a.zk(), folder);
    latch.start();
    auto token = a.token();
    auto [ec, fencing_token] = co_await latch.leadership(token);
    a.may_see(ec, "leadership");
}

void a_latch(stage& s) {
    play_until_destroyed(s, leader_latch(s.zk(0), folder), use_latch);
    s.play("b", 1, lead);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_barrier(actor& a, std::optional<barrier>& b) {
    if (!b)
        co_return;
    auto token = a.token();
    auto [ec] = co_await b->wait(token);
    goes_on(a, b, ec, "wait");
}

awaitable<void> set_and_remove(actor& a) {
    barrier b(a.zk(), "/f/b");
    auto firm = a.firm_token();
    auto [set_ec, set] = co_await b.set(firm);
    a.may_see(set_ec, "set");
    co_await a.gate("set");
    auto [removed_ec, removed] = co_await b.remove(firm);
    a.may_see(removed_ec, "remove");
}

void a_barrier(stage& s) {
    play_until_destroyed(s, barrier(s.zk(0), "/f/b"), use_barrier);
    s.play("keeper", 1, set_and_remove);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_double_barrier(actor& a, std::optional<double_barrier>& b) {
    if (!b)
        co_return;
    auto firm = a.firm_token();
    auto [entered] = co_await b->enter_for(a_while, firm);
    if (entered == errc::deadline_exceeded || !goes_on(a, b, entered, "enter"))
        co_return;
    co_await a.gate("inside");
    if (!b)
        co_return;
    auto [left] = co_await b->leave_for(a_while, firm);
    if (left != errc::deadline_exceeded)
        goes_on(a, b, left, "leave");
}

awaitable<void> enter_and_leave(actor& a) {
    double_barrier b(a.zk(), folder, 2);
    auto firm = a.firm_token();
    auto [entered] = co_await b.enter_for(a_while, firm);
    if (!has_waited(a, entered, "enter") || entered)
        co_return;
    auto [left] = co_await b.leave_for(a_while, firm);
    has_waited(a, left, "leave");
}

void a_double_barrier(stage& s) {
    play_until_destroyed(s, double_barrier(s.zk(0), folder, 2), use_double_barrier);
    s.play("b", 1, enter_and_leave);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_membership(actor& a, std::optional<membership>& m) {
    if (!m)
        co_return;
    auto firm = a.firm_token();
    auto [joined] = co_await m->join("a", "1", firm);
    if (!goes_on(a, m, joined, "join"))
        co_return;
    auto [told, all] = co_await m->next_change(firm);
    if (!goes_on(a, m, told, "next_change"))
        co_return;
    auto [changed] = co_await m->set_data("2", firm);
    if (!goes_on(a, m, changed, "set_data"))
        co_return;
    auto token = a.token();
    auto [told_again, difference] = co_await m->next_change(token);
    goes_on(a, m, told_again, "next_change");
}

awaitable<void> join_and_leave(actor& a) {
    membership m(a.zk(), folder);
    auto firm = a.firm_token();
    auto [joined] = co_await m.join("b", "", firm);
    a.may_see(joined, "join");
}

void a_membership(stage& s) {
    play_until_destroyed(s, membership(s.zk(0), folder), use_membership);
    s.play("b", 1, join_and_leave);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_rendezvous(actor& a, std::optional<rendezvous>& r) {
    if (!r)
        co_return;
    auto token = a.token();
    auto [published] = co_await r->publish("1", token);
    if (!goes_on(a, r, published, "publish"))
        co_return;
    auto update_token = a.token();
    auto [updated] = co_await r->update("2", update_token);
    goes_on(a, r, updated, "update");
}

awaitable<void> meet(actor& a) {
    rendezvous r(a.zk(), "/f/r");
    auto token = a.token();
    auto [ec, point] = co_await r.await_for(a_while, token);
    has_waited(a, ec, "await_for");
    auto publish_token = a.token();
    auto [published] = co_await r.publish_for(a_while, "3", publish_token);
    has_waited(a, published, "publish_for");
}

void a_rendezvous(stage& s) {
    play_until_destroyed(s, rendezvous(s.zk(0), "/f/r"), use_rendezvous);
    s.play("b", 1, meet);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_names(actor& a, std::optional<name_service>& names) {
    if (!names)
        co_return;
    auto firm = a.firm_token();
    auto [given] = co_await names->register_name("n", "1", name_lifetime::session, firm);
    bool taken = given == errc::already_exists;
    if (!taken && !goes_on(a, names, given, "register_name"))
        co_return;
    if (!names)
        co_return;
    auto token = a.token();
    auto [ec, entry] = co_await names->await_for(a_while, "other", token);
    if (ec != errc::deadline_exceeded)
        goes_on(a, names, ec, "await_for");
}

awaitable<void> give_names(actor& a) {
    name_service names(a.zk(), folder);
    for (const char* name : {"n", "other"}) {
        auto firm = a.firm_token();
        auto [given] = co_await names.register_name(name, "2", name_lifetime::session, firm);
        if (given != errc::already_exists)
            a.may_see(given, "register_name");
    }
}

void a_name_service(stage& s) {
    play_until_destroyed(s, name_service(s.zk(0), folder), use_names);
    s.play("b", 1, give_names);
    s.leaves_nothing_in(folder);
}

// Readers: no watch is left ---------------------------------------------------------------------

template <class Cache>
awaitable<void> use_cache(actor& a, std::optional<Cache>& cache) {
    std::uint64_t seen = 0;
    for (int i = 0; i < 3 && cache; ++i) {
        auto token = a.token();
        auto [ec, state] = co_await cache->next(seen, token);
        if (!goes_on(a, cache, ec, "next"))
            co_return;
        seen = state.revision;
    }
}

/// As far as it comes; what is left of it has no watches.
awaitable<void> write_nodes(actor& a) {
    auto firm = a.firm_token();
    create_options plain;
    co_await a.zk().create("/f", "", plain, firm);
    co_await a.zk().create("/f/a", "1", plain, firm);
    co_await a.zk().set("/f", "2", any_version, firm);
    co_await a.zk().set("/f/a", "2", any_version, firm);
    co_await a.zk().erase("/f/a", any_version, firm);
    co_await a.zk().create("/f/a", "3", plain, firm);
}

template <class Cache>
void a_cache(stage& s) {
    play_until_destroyed<Cache>(s, Cache(s.zk(0), folder), use_cache<Cache>);
    s.play("writer", 1, write_nodes);
}

configuration_parts parts_of(const std::string& value) {
    configuration_parts parts;
    parts["one"] = value;
    parts["two"] = value;
    return parts;
}

template <class Layout>
awaitable<void> use_configuration(actor& a, std::optional<Layout>& mine) {
    std::uint64_t seen = 0;
    for (int i = 0; i < 2 && mine; ++i) {
        auto token = a.token();
        auto [ec, v] = co_await mine->next(seen, token);
        if (!goes_on(a, mine, ec, "next"))
            co_return;
        seen = v.revision;
        bool whole = !v.parts || *v.parts == parts_of(v.parts->at("one"));
        a.on().check(whole, "a version is not whole");
    }
}

template <class Layout>
awaitable<void> publish_both(actor& a) {
    Layout mine(a.zk(), "/f/c");
    for (const char* value : {"1", "2"}) {
        auto firm = a.firm_token();
        auto [ec] = co_await mine.publish(parts_of(value), firm);
        if (ec != errc::busy)
            a.may_see(ec, "publish");
    }
}

template <class Layout>
void a_configuration(stage& s) {
    play_until_destroyed<Layout>(s, Layout(s.zk(0), "/f/c"), use_configuration<Layout>);
    s.play("writer", 1, publish_both<Layout>);
}

template <class Layout>
awaitable<void> write_configuration(actor& a, std::optional<Layout>& mine) {
    if (!mine)
        co_return;
    auto firm = a.firm_token();
    auto [ec] = co_await mine->publish(parts_of("0"), firm);
    bool in_between =
        a.on().any_fault() && (ec == errc::ownership_lost || ec == zk_errc::connection_loss);
    if (ec != errc::busy && !in_between)
        goes_on(a, mine, ec, "publish");
}

/// Two write; what is published in the end is whole.
template <class Layout>
awaitable<void> publish_for_certain(actor& a) {
    Layout mine(a.zk(), "/f/c");
    auto firm = a.firm_token();
    for (;;) {
        auto [ec] = co_await mine.publish(parts_of("1"), firm);
        if (!ec)
            break;
        bool in_between =
            a.on().any_fault() && (ec == errc::ownership_lost || ec == zk_errc::connection_loss);
        if (ec != errc::busy && !in_between && !a.may_see(ec, "publish"))
            co_return;
        co_await pause();
    }
    auto [ec, v] = co_await mine.next(0, firm);
    if (!a.may_see(ec, "next") || ec)
        co_return;
    if (v.status == configuration_status::published)
        a.on().check(*v.parts == parts_of(v.parts->at("one")), "a version is not whole");
}

template <class Layout>
void a_writer(stage& s) {
    play_until_destroyed<Layout>(s, Layout(s.zk(0), "/f/c"), write_configuration<Layout>);
    s.play("other", 1, publish_for_certain<Layout>);
}

// Queues and counters: exactly once -------------------------------------------------------------

awaitable<void> use_queue(actor& a, std::optional<queue>& q) {
    for (int i = 0; i < 2 && q; ++i) {
        auto token = a.token();
        auto [ec, item] = co_await q->take(token);
        if (!ec)
            a.on().note_down("taken", item.data);
        if (!goes_on(a, q, ec, "take"))
            co_return;
    }
}

awaitable<void> put_both(actor& a) {
    queue q(a.zk(), queue_path);
    for (const char* item : {"1", "2"}) {
        auto start = [&](auto& token) { return q.put(item, token); };
        co_await put_for_certain(a, item, start);
    }
}

void a_taker(stage& s) {
    play_until_destroyed(s, queue(s.zk(0), queue_path), use_queue);
    s.play("producer", 1, put_both);
    s.finally([](stage& end) { each_item_once(end, {}); });
}

awaitable<void> use_consumer(actor& a, std::optional<queue>& q) {
    if (!q)
        co_return;
    auto token = a.token();
    auto [ec, claim] = co_await q->consume(token);
    if (goes_on(a, q, ec, "consume"))
        co_await a.gate("working");
}

awaitable<void> take_for_a_while(actor& a) {
    queue q(a.zk(), queue_path);
    auto token = a.token();
    auto [ec, item] = co_await q.take_until(queue::clock::now() + a_while, token);
    if (!ec)
        a.on().note_down("taken", item.data);
    has_waited(a, ec, "take_until");
}

awaitable<void> use_producer(actor& a, std::optional<queue>& q) {
    for (const char* item : {"3", "4"}) {
        if (!q)
            co_return;
        a.on().note_down("tried", item);
        auto token = a.token();
        auto [ec] = co_await q->put(item, token);
        if (!ec)
            a.on().note_down("put", item);
        bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
        if (silent || !goes_on(a, q, ec, "put"))
            co_return;
    }
}

queue bounded_queue(client& zk) {
    queue_options options;
    options.bound = 1;
    return queue(zk, queue_path, options);
}

void a_producer(stage& s) {
    play_until_destroyed(s, bounded_queue(s.zk(0)), use_producer);
    s.play("consumer", 1, take_for_a_while);
    s.finally([](stage& end) { each_item_once(end, {}); });
}

void a_consumer(stage& s) {
    play_until_destroyed(s, queue(s.zk(0), queue_path), use_consumer);
    s.play("producer", 1, put_both);
    s.finally([](stage& end) { each_item_once(end, {}); });
}

awaitable<void> use_counter(actor& a, std::optional<counter>& c) {
    for (int i = 0; i < 2 && c; ++i) {
        a.on().note_down("tried", a.name());
        auto token = a.token();
        auto [ec, value] = co_await c->add(1, token);
        if (!ec)
            a.on().note_down("done", std::to_string(value));
        bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
        if (silent || !goes_on(a, c, ec, "add"))
            co_return;
    }
}

awaitable<void> add_once(actor& a) {
    std::optional<counter> c(std::in_place, a.zk(), "/f/c");
    a.on().note_down("tried", a.name());
    auto firm = a.firm_token();
    auto [ec, value] = co_await c->add(1, firm);
    if (!ec)
        a.on().note_down("done", std::to_string(value));
}

void a_counter(stage& s) {
    play_until_destroyed(s, counter(s.zk(0), "/f/c"), use_counter);
    s.play("b", 1, add_once);
    s.finally([](stage& end) {
        std::string text = end.data("/f/c");
        std::size_t value = text.empty() ? 0 : std::stoul(text);
        end.check(value >= end.notes("done").size(), "an addition is lost: " + text);
        end.check(value <= end.notes("tried").size(), "an addition was done twice: " + text);
    });
}

// A site that is destroyed has died ---------------------------------------------------------------

void told(actor& a, const commit_outcome& o) {
    a.on().note_down("outcome", o.committed ? "commit" : "abort");
}

awaitable<void> use_site(actor& a, std::optional<commit_site>& site) {
    if (!site)
        co_return;
    auto firm = a.firm_token();
    auto [joined, transaction] = co_await site->join_for(a_while, firm);
    if (joined == errc::deadline_exceeded || !goes_on(a, site, joined, "join"))
        co_return;
    if (transaction.outcome) {
        told(a, *transaction.outcome);
        co_return;
    }
    auto [voted, outcome] = co_await site->vote(commit_vote::commit, firm);
    if (!voted)
        told(a, outcome);
    if (goes_on(a, site, voted, "vote")) {
        auto [finished] = co_await site->finish(firm);
        goes_on(a, site, finished, "finish");
    }
}

awaitable<void> coordinate(actor& a) {
    commit_coordinator c(a.zk(), "/f/tx");
    std::vector<std::string> sites{"left"};
    auto firm = a.firm_token();
    auto [begun] = co_await c.begin(sites, "payload", firm);
    if (!a.may_see(begun, "begin") || begun)
        co_return;
    auto [ec, outcome] = co_await c.decide_for(a_while, firm);
    bool cut_off = ec == errc::in_doubt && a.on().any_fault();
    if (!cut_off && a.may_see(ec, "decide_for") && !ec)
        told(a, outcome);
}

void a_site(stage& s) {
    play_until_destroyed(s, commit_site(s.zk(0), "/f/tx", "left"), use_site);
    s.play("coordinator", 1, coordinate);
    s.finally([](stage& end) {
        const auto& outcomes = end.notes("outcome");
        for (const std::string& one : outcomes)
            end.check(one == outcomes.front(), "two outcomes");
    });
}

const registered all[] = {
    registered(scenario("destroyed.lock", 2, a_lock).with_child_stats()),
    registered(scenario("destroyed.priority_lock", 2, a_priority_lock).with_child_stats()),
    registered(scenario("destroyed.leader_latch", 2, a_latch).with_child_stats()),
    registered(scenario("destroyed.barrier", 2, a_barrier).with_child_stats()),
    registered(
        scenario("destroyed.double_barrier", 2, a_double_barrier).with_child_stats().uncancelled()),
    registered(scenario("destroyed.membership", 2, a_membership).with_child_stats()),
    registered(scenario("destroyed.rendezvous", 2, a_rendezvous).with_child_stats()),
    registered(scenario("destroyed.name_service", 2, a_name_service).with_child_stats()),
    registered(scenario("destroyed.node_cache", 2, a_cache<node_cache>).with_child_stats()),
    registered(scenario("destroyed.children_cache", 2, a_cache<children_cache>).with_child_stats()),
    registered(scenario("destroyed.tree_cache", 2, a_cache<tree_cache>).with_child_stats()),
    registered(
        scenario("destroyed.ready", 2, a_configuration<ready_configuration>).with_child_stats()),
    registered(scenario("destroyed.versions", 2, a_configuration<versioned_configuration>)
                   .with_child_stats()),
    registered(scenario("destroyed.ready-writer", 2, a_writer<ready_configuration>)
                   .with_child_stats()
                   .uncancelled()),
    registered(scenario("destroyed.versions-writer", 2, a_writer<versioned_configuration>)
                   .with_child_stats()
                   .uncancelled()),
    registered(scenario("destroyed.taker", 2, a_taker).with_child_stats()),
    registered(scenario("destroyed.consumer", 2, a_consumer).with_child_stats()),
    registered(scenario("destroyed.producer", 2, a_producer).with_child_stats()),
    registered(scenario("destroyed.counter", 2, a_counter).with_child_stats()),
    registered(scenario("destroyed.site", 2, a_site).with_child_stats().uncancelled()),
};

}  // namespace

}  // namespace corozk::schedule
