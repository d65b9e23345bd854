// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/counter.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
#include <set>
#include <vector>

namespace corozk::testing::counter_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

std::string data_of(const std::string& path) {
    return admin(shared_server().port()).data(path);
}

/// Runs `count` additions of 1 one after the other, and tells the results.
awaitable<void> add_many(counter& c, int count, std::vector<std::int64_t>& results, int& left) {
    for (int i = 0; i < count; ++i)
        results.push_back(co_await c.add(1));
    --left;
}

}  // namespace

TEST_CASE("counter: get, add, exchange, compare and set") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path + "/deep/counter");
        auto got_1 = co_await c.get();
        CHECK(got_1 == 0);
        CHECK_FALSE(admin(shared_server().port()).exists(path + "/deep/counter"));
        auto got_2 = co_await c.add(5);
        CHECK(got_2 == 5);
        auto got_3 = co_await c.add(-7);
        CHECK(got_3 == -2);
        auto got_4 = co_await c.exchange(100);
        CHECK(got_4 == -2);
        counter_exchange r = co_await c.compare_and_set(99, 1);
        CHECK_FALSE(r.exchanged);
        CHECK(r.value == 100);
        r = co_await c.compare_and_set(100, 1);
        CHECK(r.exchanged);
        CHECK(r.value == 1);
        auto got_5 = co_await c.get();
        CHECK(got_5 == 1);
        auto got_6 = co_await c.exchange(std::numeric_limits<std::int64_t>::max());
        CHECK(got_6 == 1);
        auto [ec, value] = co_await c.add(1, as_tuple());
        CHECK(ec == errc::overflow);
        auto got_7 = co_await c.get();
        CHECK(got_7 == std::numeric_limits<std::int64_t>::max());
    });
}

TEST_CASE("counter: a failed operation names itself") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/c", "not a counter");
        counter c(zk, path + "/c");
        std::string text;
        try {
            co_await c.add(1);
        } catch (const error& e) {
            text = e.what();
            CHECK(e.code() == errc::foreign_data);
        }
        CHECK(text.find("counter.add") != std::string::npos);
        CHECK(data_of(path + "/c") == "not a counter");
    });
}

TEST_CASE("counter: another object's view is never taken for granted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter a(zk, path + "/c");
        counter b(zk, path + "/c");
        auto got_8 = co_await a.add(1);
        CHECK(got_8 == 1);
        auto got_9 = co_await b.add(1);
        CHECK(got_9 == 2);
        // `a` remembers 1: it must look again before it refuses.
        counter_exchange r = co_await a.compare_and_set(2, 10);
        CHECK(r.exchanged);
        r = co_await b.compare_and_set(2, 20);
        CHECK_FALSE(r.exchanged);
        CHECK(r.value == 10);
        auto got_10 = co_await b.get();
        CHECK(got_10 == 10);
    });
}

TEST_CASE("counter: operations of one object are combined, and each gets its own result") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path + "/c");
        std::vector<std::int64_t> results;
        int left = 50;
        auto requests = zk.counters().requests;
        auto executor = co_await boost::asio::this_coro::executor;
        for (int i = 0; i < 50; ++i) {
            boost::asio::co_spawn(executor, add_many(c, 20, results, left), boost::asio::detached);
        }
        co_await eventually_async([&] { return left == 0; });
        auto got_11 = co_await c.get();
        CHECK(got_11 == 1000);
        std::set<std::int64_t> distinct(results.begin(), results.end());
        CHECK(distinct.size() == 1000);
        CHECK(*distinct.begin() == 1);
        CHECK(*distinct.rbegin() == 1000);
        CHECK(zk.counters().requests - requests < 100);
    });
}

TEST_CASE("counter: a read does not fail for an update that it is combined with") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto whose = GENERATE(compatibility::native, compatibility::curator, compatibility::kazoo);
        counter_options options;
        options.compatibility = whose;
        counter c(zk, path + "/c", options);
        co_await c.add(5);
        co_await zk.set_acl(path + "/c", read_only_acl());
        pending_result<std::int64_t> first, added, read;
        c.get(first.handler());
        c.add(1, added.handler());
        c.get(read.handler());
        CHECK(co_await finished(added) == zk_errc::no_auth);
        CHECK_FALSE(co_await finished(read));
        CHECK(read.value() == 5);
        CHECK_FALSE(co_await finished(first));
    });
}

TEST_CASE("counter: sixteen clients share one, and every addition counts once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        std::vector<client> clients;
        std::vector<std::unique_ptr<counter>> counters;
        for (int i = 0; i < 16; ++i) {
            clients.push_back(
                co_await client::connect(executor, options_for(shared_server().hosts())));
            counters.push_back(std::make_unique<counter>(clients.back(), path + "/c"));
        }
        auto requests = [&clients] {
            std::uint64_t sum = 0;
            for (client& c : clients)
                sum += c.counters().requests;
            return sum;
        };
        const std::uint64_t before = requests();
        std::vector<std::int64_t> results;
        int left = 16;
        for (auto& c : counters) {
            boost::asio::co_spawn(executor, add_many(*c, 50, results, left), boost::asio::detached);
        }
        co_await eventually_async([&] { return left == 0; }, std::chrono::seconds(60));
        // They take turns: most updates need no read, and few lose a race. Without turns each needs six and
        // more; how many still race depends on the machine.
        CHECK(requests() - before < 800 * 5);
        counter reader(zk, path + "/c");
        co_await zk.sync(path);
        auto got_12 = co_await reader.get();
        CHECK(got_12 == 800);
        CHECK(std::set<std::int64_t>(results.begin(), results.end()).size() == 800);
        for (client& other : clients)
            co_await other.close();
    });
}

TEST_CASE("counter: the formats of Curator and Kazoo") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter_options options;
        options.compatibility = compatibility::curator;
        counter curator(zk, path + "/curator", options);
        auto got_13 = co_await curator.add(258);
        CHECK(got_13 == 258);
        CHECK(data_of(path + "/curator") == std::string("\0\0\0\0\0\0\1\2", 8));
        co_await zk.set(path + "/curator", std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
        auto got_14 = co_await curator.add(1);
        CHECK(got_14 == -1);

        options.compatibility = compatibility::kazoo;
        counter kazoo(zk, path + "/kazoo", options);
        auto got_15 = co_await kazoo.add(-3);
        CHECK(got_15 == -3);
        CHECK(data_of(path + "/kazoo") == "-3");
        co_await zk.set(path + "/kazoo", "41");
        auto got_16 = co_await kazoo.add(1);
        CHECK(got_16 == 42);

        options.compatibility = compatibility::curator;
        options.bits = 32;
        counter integer(zk, path + "/integer", options);
        auto got_17 = co_await integer.add(std::numeric_limits<std::int32_t>::max());
        CHECK(got_17 == 2147483647);
        auto [ec, value] = co_await integer.add(1, as_tuple());
        CHECK(ec == errc::overflow);
        CHECK(data_of(path + "/integer") == "\x7f\xff\xff\xff");

        // What is there before the first value: as Kazoo leaves it.
        options.initial = 7;
        for (unsigned bits : {32U, 64U}) {
            for (auto whose : {compatibility::curator, compatibility::kazoo}) {
                if (bits == 32 && whose == compatibility::kazoo)
                    continue;
                options.compatibility = whose;
                options.bits = bits;
                const std::string empty = path + "/empty";
                co_await zk.create(empty);
                counter numbers(zk, empty, options);
                const std::int64_t initial = co_await numbers.get();
                CHECK(initial == 7);
                const std::int64_t next = co_await numbers.add(1);
                CHECK(next == 8);
                co_await zk.erase(empty);
            }
        }

        counter wrong(zk, path + "/integer");
        auto [wrong_ec, wrong_value] = co_await wrong.get(as_tuple());
        CHECK(wrong_ec == errc::foreign_data);
    });
}

TEST_CASE("counter: a format that does not exist") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (auto whose : {compatibility::native, compatibility::kazoo, compatibility(9)}) {
            counter_options options;
            options.compatibility = whose;
            options.bits = 32;
            counter none(zk, path + "/none", options);
            auto [ec, value] = co_await none.add(1, as_tuple());
            CHECK(ec == errc::bad_option);
        }
        counter_options options;
        options.compatibility = compatibility::curator;
        options.bits = 16;
        counter none(zk, path + "/none", options);
        auto [ec, result] = co_await none.compare_and_set(0, 1, as_tuple());
        CHECK(ec == errc::bad_option);
        auto found = co_await zk.exists(path + "/none");
        CHECK_FALSE(found);
    });
}

TEST_CASE("counter: node and parents may be deleted by others") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path + "/folder/c");
        auto got_18 = co_await c.add(3);
        CHECK(got_18 == 3);
        admin hand(shared_server().port());
        hand.erase_recursively(path + "/folder");
        auto got_19 = co_await c.add(4);
        CHECK(got_19 == 4);
        hand.erase(path + "/folder/c");
        auto got_20 = co_await c.get();
        CHECK(got_20 == 0);
        hand.erase_recursively(path + "/folder");
        auto got_21 = co_await c.exchange(9);
        CHECK(got_21 == 0);
    });
}

TEST_CASE("counter: a chroot that has gone is named") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        std::string folder = fresh_path();
        admin hand = observer();
        hand.plant(folder);
        client zk = co_await connect_to(shared_server().hosts() + folder);
        counter c(zk, "/top");
        auto value = co_await c.add(1);
        CHECK(value == 1);
        hand.erase_recursively(folder);
        auto [ec, none] = co_await c.add(1, as_tuple());
        CHECK(ec == errc::chroot_missing);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("counter: what begins after the counter was destroyed is aborted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path + "/c");
        co_await c.add(1);
        auto ask = [](counter& gone) { return gone.add(1, boost::asio::deferred); };
        error_code ec = co_await begun_too_late<std::int64_t>(zk, c, ask);
        CHECK(ec == boost::asio::error::operation_aborted);
        counter again(zk, path + "/c");
        auto got = co_await again.get();
        CHECK(got == 1);
    });
}

TEST_CASE("counter: cancelling and destroying") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        {
            counter c(zk, path + "/c");
            co_await c.add(1);
            boost::asio::cancellation_signal cancel;
            error_code result;
            bool done = false;
            c.add(1,
                  boost::asio::bind_cancellation_slot(cancel.slot(),
                                                      [&](error_code ec, std::int64_t) {
                                                          result = ec;
                                                          done = true;
                                                      }));
            cancel.emit(boost::asio::cancellation_type::terminal);
            CHECK_FALSE(done);
            co_await eventually_async([&] { return done; });
            CHECK(result == boost::asio::error::operation_aborted);
            auto got_22 = co_await c.add(1);
            CHECK(got_22 >= 2);
        }
        error_code result;
        bool done = false;
        {
            counter c(zk, path + "/c");
            c.add(1, [&](error_code ec, std::int64_t) {
                result = ec;
                done = true;
            });
        }
        co_await eventually_async([&] { return done; });
        CHECK(result == boost::asio::error::operation_aborted);

        client empty;
        counter none(empty, path + "/c");
        auto [ec, value] = co_await none.get(as_tuple());
        CHECK(ec == errc::closed);
        counter late(zk, path + "/c");
        co_await zk.close();
        auto [closed_ec, closed_value] = co_await late.add(1, as_tuple());
        CHECK(closed_ec == errc::closed);
    });
}

TEST_CASE("counter: a change to the value that a missing counter has makes it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter_options ten;
        ten.initial = 10;
        counter_options twenty;
        twenty.initial = 20;
        int number = 0;
        std::int64_t value = 0;
        auto fresh = [&] { return path + "/c" + std::to_string(++number); };
        {
            counter first(zk, fresh(), ten);
            value = co_await first.get();
            CHECK(value == 10);  // which is no change
            CHECK_FALSE(observer().exists(first.path()));
            value = co_await first.add(0);
            CHECK(value == 10);
            counter second(zk, first.path(), twenty);
            value = co_await second.get();
            CHECK(value == 10);
            value = co_await second.add(0);
            CHECK(value == 10);
        }
        {
            counter first(zk, fresh(), ten);
            value = co_await first.exchange(10);
            CHECK(value == 10);
            counter second(zk, first.path(), twenty);
            value = co_await second.add(1);
            CHECK(value == 11);
        }
        {
            counter first(zk, fresh(), ten);
            counter_exchange done = co_await first.compare_and_set(10, 10);
            CHECK(done.exchanged);
            counter second(zk, first.path(), twenty);
            done = co_await second.compare_and_set(20, 20);
            CHECK_FALSE(done.exchanged);
            CHECK(done.value == 10);
        }
        {
            // What fails changes nothing.
            counter first(zk, fresh(), ten);
            counter_exchange done = co_await first.compare_and_set(11, 11);
            CHECK_FALSE(done.exchanged);
            counter second(zk, first.path(), twenty);
            value = co_await second.exchange(20);
            CHECK(value == 20);
            value = co_await first.get();
            CHECK(value == 20);
        }
        {
            // Of several that are combined one is enough.
            counter first(zk, fresh(), ten);
            pending_result<std::int64_t> read, added, taken;
            first.get(read.handler());
            first.add(1, added.handler());
            first.add(-1, taken.handler());
            co_await finished(taken);
            CHECK(added.value() == 11);
            CHECK(taken.value() == 10);
            counter second(zk, first.path(), twenty);
            value = co_await second.get();
            CHECK(value == 10);
        }
        for (auto whose : {compatibility::curator, compatibility::kazoo}) {
            ten.compatibility = twenty.compatibility = whose;
            counter first(zk, fresh(), ten);
            value = co_await first.add(0);
            CHECK(value == 10);
            counter second(zk, first.path(), twenty);
            value = co_await second.get();
            CHECK(value == 10);
        }
    });
}

TEST_CASE("counter: next tells each value once, the latest at last") {
    auto whose = GENERATE(compatibility::native, compatibility::curator, compatibility::kazoo);
    with_client([whose](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        counter_options options;
        options.compatibility = whose;
        options.initial = 5;
        counter follower(zk, path, options);
        counter writer(other, path, options);
        std::int64_t value = co_await follower.next();
        CHECK(value == 5);
        pending_result<std::int64_t> next;
        follower.next(next.handler());
        auto [busy, none] = co_await follower.next(as_tuple());
        CHECK(busy == errc::busy);
        co_await writer.add(0);  // creates the node: no other value
        co_await settle(zk);
        CHECK_FALSE(next.done());
        co_await writer.add(2);
        CHECK(!co_await finished(next));
        CHECK(next.value() == 7);
        // An own update is seen at once.
        value = co_await follower.add(1);
        CHECK(value == 8);
        value = co_await follower.next();
        CHECK(value == 8);
        pending_result<std::int64_t> cancelled;
        follower.next(cancelled.handler());
        co_await settle(zk);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await writer.exchange(-1);
        value = co_await follower.next();
        CHECK(value == -1);
        observer().erase(path);
        value = co_await follower.next();
        CHECK(value == 5);
        observer().plant(path, "no number");
        auto [foreign, nothing] = co_await follower.next(as_tuple());
        CHECK(foreign == errc::foreign_data);
        observer().erase(path);
        co_await writer.exchange(6);
        value = co_await follower.next();
        CHECK(value == 6);
        follower = counter();
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("counter: next survives the session") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        counter follower(zk, path);
        counter writer(other, path);
        std::int64_t value = co_await follower.next();
        CHECK(value == 0);
        pending_result<std::int64_t> next;
        follower.next(next.handler());
        co_await settle(zk);
        expire(proxy.session());
        co_await writer.add(3);
        CHECK(!co_await finished(next));
        CHECK(next.value() == 3);
        counter_options bad;
        bad.bits = 16;
        counter none(zk, path, bad);
        auto [ec, nothing] = co_await none.next(as_tuple());
        CHECK(ec == errc::bad_option);
        co_await other.close();
    });
}

}  // namespace corozk::testing::counter_test
