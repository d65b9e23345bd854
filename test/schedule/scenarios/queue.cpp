// SPDX-License-Identifier: Apache-2.0
// No item is lost, none is taken twice, and those of one producer come in their order.
#include "queues.hpp"

#include <chrono>
#include <set>
#include <string>

namespace corozk::schedule {

namespace queue_scenarios {

awaitable<bool> put(actor& a, queue& q, const char* item) {
    auto start = [&](auto& token) { return q.put(item, token); };
    bool done = co_await put_for_certain(a, item, start);
    co_return done;
}

queue plain_queue(actor& a) {
    return queue(a.zk(), queue_path);
}

queue foreign_queue(actor& a) {
    queue_options options;
    options.compatibility = compatibility::kazoo;
    return queue(a.zk(), queue_path, options);
}

queue bounded_queue(actor& a) {
    queue_options options;
    options.bound = 1;
    return queue(a.zk(), queue_path, options);
}

queue wide_queue(actor& a) {
    queue_options options;
    options.window = 2;
    return queue(a.zk(), queue_path, options);
}

awaitable<void> put_one(actor& a) {
    queue q(a.zk(), queue_path);
    co_await put(a, q, "1");
}

template <queue (*Make)(actor&)>
awaitable<void> put_two_into(actor& a) {
    queue q = Make(a);
    bool first = co_await put(a, q, "1");
    if (first)
        co_await put(a, q, "2");
}

template <queue (*Make)(actor&), int Items>
awaitable<void> take_from(actor& a) {
    queue q = Make(a);
    for (int i = 0; i < Items; ++i) {
        auto item = co_await take_an_item(a, q);
        if (!item)
            co_return;
    }
}

constexpr auto put_two = put_two_into<plain_queue>;

awaitable<void> take_one(actor& a) {
    queue q(a.zk(), queue_path);
    co_await take_an_item(a, q);
}

awaitable<void> take_two(actor& a) {
    queue q(a.zk(), queue_path);
    std::string last;
    for (int i = 0; i < 2; ++i) {
        auto item = co_await take_an_item(a, q);
        if (!item)
            co_return;
        a.on().check(last < item->data, "items come in their order");
        last = item->data;
    }
}

/// Works on one until that is done; what it does is part of the acknowledgement.
/// @tparam NotesClaims  whether each claim and its order are noted down
template <bool NotesClaims = false, queue (*Make)(actor&) = plain_queue>
awaitable<void> consume_one(actor& a) {
    queue q = Make(a);
    int attempts = 0;
    for (;;) {
        auto token = a.token();
        auto [ec, claim] = co_await q.consume(token);
        if (ec) {
            if (!a.may_see(ec, "consume") || a.cancelled())
                co_return;
            continue;
        }
        const std::string number = std::to_string(claim.fencing_token());
        if (NotesClaims)
            a.on().note_down("claims of " + claim.data(), number);
        co_await a.gate("working");
        transaction effect;
        std::string attempt = claim.data() + " by " + a.name() + std::to_string(++attempts);
        effect.create("/f/effect-" + claim.data(), attempt);
        auto firm = a.firm_token();
        auto [acknowledged] = co_await claim.acknowledge(effect, firm);
        if (!acknowledged) {
            a.on().note_down("acknowledged", claim.data());
            if (NotesClaims)
                a.on().note_down("last claim of " + claim.data(), number);
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

/// Claims an item, and gives it back; perhaps there is none any more.
awaitable<void> consume_and_give_back(actor& a) {
    queue q(a.zk(), queue_path);
    auto token = a.token();
    auto deadline = time_limit::clock::now() + std::chrono::seconds(30);
    auto [ec, claim] = co_await q.consume_until(deadline, token);
    if (ec != errc::deadline_exceeded)
        a.may_see(ec, "consume_until");
    if (ec)
        co_return;
    co_await a.gate("working");
    co_await give_back(a, claim);
}

awaitable<void> put_and_give_back(actor& a) {
    co_await put_one(a);
    co_await consume_and_give_back(a);
}

awaitable<void> put_two_and_consume_one(actor& a) {
    co_await put_two(a);
    co_await consume_one<true>(a);
}

awaitable<void> put_another(actor& a) {
    queue q = bounded_queue(a);
    co_await put(a, q, "3");
}

/// There are never more items than the bound says.
void within_the_bound(stage& s) {
    std::set<std::string> items;
    for (const model::log_entry& entry : s.zookeeper().log()) {
        for (const model::change& c : entry.changes) {
            if (model::parent_of(c.path) != queue_path)
                continue;
            if (c.what == model::change::type::create)
                items.insert(c.path);
            if (c.what == model::change::type::erase)
                items.erase(c.path);
        }
        s.check(items.size() <= 1, "more items than the bound allows");
    }
}

/// The items that had their effect.
std::vector<std::string> effects(stage& s) {
    std::vector<std::string> items;
    for (const std::string& name : s.children("/f")) {
        if (name.starts_with("effect-"))
            items.push_back(name.substr(7));
    }
    return items;
}

/// What is told of an acknowledgement is what became of its effect.
void told_as_it_is(stage& s) {
    for (const std::string& item : s.notes("acknowledged"))
        s.check(s.exists("/f/effect-" + item), "acknowledged without effect: " + item);
    for (const std::string& attempt : s.notes("refused")) {
        std::string node = "/f/effect-" + attempt.substr(0, attempt.find(' '));
        bool done = s.exists(node) && s.data(node) == attempt;
        s.check(!done, "refused, and done all the same: " + attempt);
    }
}

void one_consumer(stage& s) {
    pass_items(s, {{"producer", put_two}, {"consumer", take_two}});
}

void two_consumers(stage& s) {
    pass_items(s, {{"producer", put_two}, {"consumer", take_one}, {"other", take_one}});
}

void with_window(stage& s) {
    pass_items(s,
               {{"producer", put_two},
                {"consumer", take_from<wide_queue, 1>},
                {"other", take_from<wide_queue, 1>}});
}

void work_off(stage& s, std::initializer_list<contender> all) {
    play_all(s, all);
    settles_its_items(s, effects);
    s.finally(told_as_it_is);
}

void one_worker(stage& s) {
    work_off(s, {{"worker", consume_one<>}, {"producer", put_one}});
}

void two_workers(stage& s) {
    work_off(s, {{"producer", put_two}, {"worker", consume_one<>}, {"other", consume_one<>}});
}

void two_workers_with_window(stage& s) {
    constexpr auto work = consume_one<false, wide_queue>;
    work_off(s, {{"producer", put_two}, {"worker", work}, {"other", work}});
}

void one_gives_back(stage& s) {
    work_off(
        s,
        {{"producer", put_one}, {"gives back", consume_and_give_back}, {"worker", consume_one<>}});
}

void one_gives_its_own_back(stage& s) {
    work_off(s, {{"gives back", put_and_give_back}, {"worker", consume_one<>}});
}

/// Somebody erases a claim, and the next one has its name: whoever claims an item last works it off.
void claim_erased(stage& s) {
    work_off(s, {{"worker", consume_one<true>}, {"other", put_two_and_consume_one}});
    s.may_erase([](stage& where) {
        std::vector<std::string> claims;
        for (const std::string& item : where.children(queue_path)) {
            std::string node = std::string(queue_path) + "/" + item;
            for (const std::string& claim : where.children(node))
                claims.push_back(node + "/" + claim);
        }
        return claims;
    });
    s.finally([](stage& end) {
        for (const std::string item : {"1", "2"}) {
            for (const std::string& last : end.notes("last claim of " + item)) {
                for (const std::string& claim : end.notes("claims of " + item))
                    end.check(std::stoll(claim) <= std::stoll(last), "an ended claim counts");
            }
        }
    });
}

void foreign(stage& s) {
    pass_items(
        s, {{"producer", put_two_into<foreign_queue>}, {"consumer", take_from<foreign_queue, 2>}});
}

void bounded(stage& s) {
    pass_items(
        s, {{"producer", put_two_into<bounded_queue>}, {"consumer", take_from<bounded_queue, 2>}});
    s.finally(within_the_bound);
}

void bounded_for_two(stage& s) {
    pass_items(s,
               {{"producer", put_two_into<bounded_queue>},
                {"other", put_another},
                {"consumer", take_from<bounded_queue, 3>}});
    s.finally(within_the_bound);
}

const registered all[] = {
    registered(scenario("queue.take", 2, one_consumer).with_child_stats()),
    registered(scenario("queue.take-2", 3, two_consumers).with_child_stats()),
    registered(scenario("queue.take", 2, one_consumer).with_child_stats().lagging()),
    registered(
        scenario("queue.take-2", 3, two_consumers).with_child_stats().in_a_folder(queue_folders)),
    registered(scenario("queue.consume-2", 3, two_workers).with_child_stats()),
    registered(
        scenario("queue.consume-2", 3, two_workers).with_child_stats().in_a_folder(queue_folders)),
    registered(scenario("queue.window-2", 3, with_window).with_child_stats()),
    registered(scenario("queue.consume-window-2", 3, two_workers_with_window).with_child_stats()),
    registered(scenario("queue.kazoo", 2, foreign).with_child_stats()),
    registered(scenario("queue.give-back", 3, one_gives_back).with_child_stats()),
    registered(
        scenario("queue.give-back-own", 2, one_gives_its_own_back).with_child_stats().lagging()),
    registered(scenario("queue.claim-erased", 2, claim_erased)
                   .with_child_stats()
                   .with({move_kind::cut, move_kind::lose_answer, move_kind::erase_node})),
    registered(scenario("queue.bounded", 2, bounded).with_child_stats().uncancelled()),
    registered(scenario("queue.bounded-2", 3, bounded_for_two).with_child_stats().uncancelled()),
    registered(scenario("queue.consume-2", 3, two_workers).with_child_stats().lagging()),
    registered(scenario("queue.consume", 2, one_worker).with_child_stats().lagging()),
};

}  // namespace queue_scenarios

}  // namespace corozk::schedule
