// SPDX-License-Identifier: Apache-2.0
// Queues and counters: exactly once.
#include "destroyed.hpp"
#include "queues.hpp"
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/queue.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace corozk::schedule {

namespace destroyed_queues_scenarios {

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
    settles_its_items(s);
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
    auto [ec, item] = co_await q.take_until(time_limit::clock::now() + a_while, token);
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
    settles_its_items(s);
}

void a_consumer(stage& s) {
    play_until_destroyed(s, queue(s.zk(0), queue_path), use_consumer);
    s.play("producer", 1, put_both);
    settles_its_items(s);
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

const registered all[] = {
    registered(scenario("destroyed.consumer", 2, a_consumer).with_child_stats()),
    registered(scenario("destroyed.counter", 2, a_counter).with_child_stats()),
    registered(scenario("destroyed.producer", 2, a_producer).with_child_stats()),
    registered(scenario("destroyed.taker", 2, a_taker).with_child_stats()),
};

}  // namespace destroyed_queues_scenarios

}  // namespace corozk::schedule
