// SPDX-License-Identifier: Apache-2.0
// No item is lost, none is taken twice, and those of one producer come in their order.
#include "turns.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>

namespace corozk::schedule {

namespace {

constexpr const char* path = "/f/q";

awaitable<void> put_two(actor& a) {
    queue q(a.zk(), path);
    for (const char* item : {"1", "2"}) {
        a.on().note_down("tried", item);
        for (;;) {
            auto token = a.firm_token();
            auto [ec] = co_await q.put(item, token);
            if (!ec)
                break;
            // What was not sent for too long is given up.
            bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
            a.on().check(silent, "put " + std::string(item) + ": " + ec.message());
            if (!silent)
                co_return;
        }
        a.on().note_down("put", item);
    }
}

awaitable<void> take_one(actor& a) {
    queue q(a.zk(), path);
    auto token = a.token();
    auto [ec, item] = co_await q.take(token);
    if (a.may_see(ec, "take") && !ec)
        a.on().note_down("taken", item.data);
}

awaitable<void> take_two(actor& a) {
    queue q(a.zk(), path);
    std::string last;
    for (int i = 0; i < 2; ++i) {
        auto token = a.token();
        auto [ec, item] = co_await q.take(token);
        if (!a.may_see(ec, "take") || ec)
            co_return;
        a.on().note_down("taken", item.data);
        a.on().check(last < item.data, "items come in their order");
        last = item.data;
    }
}

/// Works on one until that is done; what it does is part of the acknowledgement.
awaitable<void> consume_one(actor& a) {
    queue q(a.zk(), path);
    int attempts = 0;
    for (;;) {
        auto token = a.token();
        auto [ec, claim] = co_await q.consume(token);
        if (ec) {
            if (!a.may_see(ec, "consume") || a.cancelled())
                co_return;
            continue;
        }
        co_await a.gate("working");
        transaction effect;
        std::string attempt = claim.data() + " by " + a.name() + std::to_string(++attempts);
        effect.create("/f/effect-" + claim.data(), attempt);
        auto firm = a.firm_token();
        auto [acknowledged] = co_await claim.acknowledge(effect, firm);
        if (!acknowledged) {
            a.on().note_down("acknowledged", claim.data());
            co_return;
        }
        if (acknowledged == errc::ownership_lost)
            a.on().note_down("refused", attempt);
        if (!a.may_see(acknowledged, "acknowledge"))
            co_return;
        // With the session went the claim, or perhaps not before the work was done.
        if (is_outcome_unknown(acknowledged))
            co_return;
    }
}

/// Each item that was put is in the queue, was taken, or had its effect: once.
void nothing_lost(stage& s) {
    std::vector<std::string> found = s.notes("taken");
    for (const std::string& name : s.children(path)) {
        if (s.exists(std::string(path) + "/" + name))
            found.push_back(s.data(std::string(path) + "/" + name));
    }
    for (const std::string& name : s.children("/f")) {
        if (name.starts_with("effect-"))
            found.push_back(name.substr(7));
    }
    for (const std::string& item : s.notes("put")) {
        auto times = std::count(found.begin(), found.end(), item);
        s.check(times == 1, "item " + item + " is there " + std::to_string(times) + " times");
    }
    for (const std::string& item : s.notes("acknowledged"))
        s.check(s.exists("/f/effect-" + item), "acknowledged without effect: " + item);
    for (const std::string& attempt : s.notes("refused")) {
        std::string node = "/f/effect-" + attempt.substr(0, attempt.find(' '));
        bool done = s.exists(node) && s.data(node) == attempt;
        s.check(!done, "refused, and done all the same: " + attempt);
    }
    for (const std::string& item : s.notes("tried"))
        s.check(std::count(found.begin(), found.end(), item) <= 1, "item " + item + " is doubled");
}

void one_consumer(stage& s) {
    s.play("producer", 0, put_two);
    s.play("consumer", 1, take_two);
    s.finally(nothing_lost);
}

void two_consumers(stage& s) {
    s.play("producer", 0, put_two);
    s.play("consumer", 1, take_one);
    s.play("other", 2, take_one);
    s.finally(nothing_lost);
}

void two_workers(stage& s) {
    s.play("producer", 0, put_two);
    s.play("worker", 1, consume_one);
    s.play("other", 2, consume_one);
    s.finally(nothing_lost);
}

const registered all[] = {
    registered(scenario("queue.take", 2, one_consumer)),
    registered(scenario("queue.take-2", 3, two_consumers)),
    registered(scenario("queue.consume-2", 3, two_workers)),
};

}  // namespace

}  // namespace corozk::schedule
