// SPDX-License-Identifier: Apache-2.0
// The queue and the priority queue, with Curator's SimpleDistributedQueue and Kazoo's Queue on the
// same path.
#include "contest.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>

namespace corozk::testing::queue_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

constexpr int item_count = 300;

queue_options options_with(party_kind which) {
    queue_options options;
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

std::vector<std::string> numbered(const std::string& who, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back(who + "-" + std::to_string(i));
    return names;
}

std::string count_argument() {
    return "count=" + std::to_string(item_count);
}

boost::asio::awaitable<void> take_until_stop(queue& q, std::vector<std::string>& taken) {
    for (;;) {
        queue_item item = co_await q.take();
        if (item.data == "stop")
            break;
        taken.push_back(item.data);
    }
}

}  // namespace

TEST_CASE("we take what another library put, in its order") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    party theirs(which, at.arguments({"task=put", "kind=queue", count_argument()}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        queue ours(zk, at.path, options_with(which));
        std::vector<std::string> taken;
        for (int i = 0; i < item_count; ++i) {
            queue_item item = co_await ours.take();
            taken.push_back(item.data);
        }
        CHECK(taken == numbered(name_of(which), item_count));
        co_await theirs.end();
        auto [ec, none] = co_await ours.try_take(as_tuple());
        CHECK(ec == errc::would_block);
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library takes what we put, in our order") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        queue ours(zk, at.path, options_with(which));
        std::vector<std::string> items = numbered(our_party, item_count);
        co_await ours.put(items[0]);  // ours creates the parent node
        party theirs(which, at.arguments({"task=take", "kind=queue"}));
        for (std::size_t i = 1; i < items.size() / 2; ++i)
            co_await ours.put(items[i]);
        std::vector<std::string> rest(items.begin() + item_count / 2, items.end());
        co_await ours.put_many(rest);
        co_await ours.put("stop");
        co_await theirs.end();
        CHECK(theirs.lines() == items);
        std::size_t left = co_await ours.count_items();
        CHECK(left == 0);
    });
    auto folder = at.hand.stat(at.path);
    if (which == party_kind::kazoo) {
        // Kazoo does not expect its parent nodes to be deleted.
        REQUIRE(folder);
        CHECK(folder->ephemeral_owner == 0);
    }
}

TEST_CASE("both parties put and take: every item is taken once") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk = co_await interop_client();
            client other = co_await interop_client();
            queue producing(zk, at.path, options_with(which));
            queue consuming(other, at.path, options_with(which));
            co_await producing.put("first");
            party consumer(which, at.arguments({"task=take", "kind=queue"}));
            auto it_took = [&] { return at.hand.children(at.path).empty(); };
            co_await consumer.until(it_took, "taking");
            std::vector<std::string> taken;
            bool over = false;
            std::exception_ptr problem;
            boost::asio::co_spawn(
                context, take_until_stop(consuming, taken), [&](std::exception_ptr e) {
                    problem = e;
                    over = true;
                });
            party producer(which, at.arguments({"task=put", "kind=queue", count_argument()}));
            for (const std::string& item : numbered(our_party, item_count)) {
                co_await producing.put(item);
            }
            co_await producer.end();
            // One for each consumer.
            co_await producing.put("stop");
            co_await producing.put("stop");
            co_await consumer.end();
            co_await eventually_async([&] { return over; }, party_limit, "our consumer's end");
            if (problem)
                std::rethrow_exception(problem);

            std::vector<std::string> all = consumer.lines();
            INFO("taken by us: " << taken.size() << ", by them: " << all.size());
            all.insert(all.end(), taken.begin(), taken.end());
            std::vector<std::string> put = numbered(our_party, item_count);
            std::vector<std::string> put_by_them = numbered(name_of(which), item_count);
            put.insert(put.end(), put_by_them.begin(), put_by_them.end());
            put.emplace_back("first");
            std::sort(all.begin(), all.end());
            std::sort(put.begin(), put.end());
            CHECK(all == put);
            co_await other.close();
            co_await zk.close();
        },
        party_limit);
    run_to_idle(context);
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("priorities mean the same to us and to Kazoo") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        priority_queue ours(zk, at.path, options_with(party_kind::kazoo));
        party theirs(party_kind::kazoo,
                     at.arguments({"task=put", "kind=queue", "count=9", "priorities=100,5,999"}));
        co_await theirs.end();
        co_await ours.put("between", 50);
        co_await ours.put("first", 0);
        std::vector<std::string> taken;
        std::vector<std::int32_t> priorities;
        for (int i = 0; i < 11; ++i) {
            queue_item item = co_await ours.take();
            taken.push_back(item.data);
            priorities.push_back(item.priority);
        }
        std::vector<std::string> expected{"first",
                                          "kazoo-1",
                                          "kazoo-4",
                                          "kazoo-7",
                                          "between",
                                          "kazoo-0",
                                          "kazoo-3",
                                          "kazoo-6",
                                          "kazoo-2",
                                          "kazoo-5",
                                          "kazoo-8"};
        CHECK(taken == expected);
        std::vector<std::int32_t> numbers{0, 5, 5, 5, 50, 100, 100, 100, 999, 999, 999};
        CHECK(priorities == numbers);

        co_await ours.put("stop", 999);
        co_await ours.put("late", 100);
        co_await ours.put("soon", 7);
        co_await ours.put("later", 101);
        party taker(party_kind::kazoo, at.arguments({"task=take", "kind=queue"}));
        co_await taker.end();
        std::vector<std::string> in_order{"soon", "late", "later"};
        CHECK(taker.lines() == in_order);
        auto [ec] = co_await ours.put("no", 1000, as_tuple());
        CHECK(ec == errc::bad_option);
    });
}

}  // namespace corozk::testing::queue_test
