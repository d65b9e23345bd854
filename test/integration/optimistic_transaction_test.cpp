// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/optimistic_transaction.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace corozk::testing::optimistic_transaction_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

using wire = corozk::testing::op_code;

std::string data_of(const std::string& path) {
    return observer().data(path);
}

/// The znodes that tell what was applied.
std::size_t ledgers(const std::string& path) {
    return observer().children(path + "/ledgers").size();
}

/// How a transaction ended.
template <class Transaction>
awaitable<error_code> error_of(Transaction transaction) {
    try {
        co_await std::move(transaction);
    } catch (const error& e) {
        CHECK(e.operation() == "optimistic_transaction.run");
        co_return e.code();
    }
    co_return error_code();
}

awaitable<void> add_one(transaction_attempt& attempt, std::string path) {
    std::optional<std::string> text = co_await attempt.get(path);
    attempt.set(path, std::to_string(std::stoi(text.value()) + 1));
}

}  // namespace

TEST_CASE("optimistic transaction: reads, writes and a result") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/a", "1");
        co_await zk.create(path + "/b", "2");
        co_await zk.create(path + "/old");
        optimistic_transaction t(zk, path + "/ledgers");
        auto body = [&](transaction_attempt& attempt) -> awaitable<std::string> {
            std::optional<std::string> a = co_await attempt.get(path + "/a");
            std::optional<std::string> none = co_await attempt.get(path + "/new");
            CHECK_FALSE(none);
            attempt.set(path + "/a", "3").create(path + "/new", "n").erase(path + "/old");
            // Nothing is written yet, but the own writes are seen.
            CHECK(data_of(path + "/a") == "1");
            std::optional<std::string> own = co_await attempt.get(path + "/a");
            CHECK(own == "3");
            std::vector<std::string> paths{path + "/b", path + "/old", path + "/new", path + "/c"};
            auto several = co_await attempt.get_all(paths);
            CHECK(several == std::vector<std::optional<std::string>>{"2", {}, "n", {}});
            co_return *a;
        };
        std::string before = co_await t.run(body);
        CHECK(before == "1");
        CHECK(data_of(path + "/a") == "3");
        CHECK(data_of(path + "/new") == "n");
        CHECK_FALSE(observer().exists(path + "/old"));
        CHECK_FALSE(observer().exists(path + "/c"));
    });
}

TEST_CASE("optimistic transaction: repeated if what was read has changed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/a", "1");
        co_await zk.create(path + "/b", "1");
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        auto body = [&](transaction_attempt& attempt) -> awaitable<int> {
            std::optional<std::string> a = co_await attempt.get(path + "/a");
            if (++calls == 1)
                co_await zk.set(path + "/a", "5");
            if (calls == 2)
                co_await zk.erase(path + "/a");
            if (calls == 3)
                co_await zk.create(path + "/a", "7");
            attempt.set(path + "/b", a.value_or("none"));
            co_return calls;
        };
        int last = co_await t.run(body);
        CHECK(last == 4);
        CHECK(data_of(path + "/b") == "7");
        CHECK(observer().stat(path + "/b")->version == 1);
    });
}

TEST_CASE("optimistic transaction: without writes the reads are verified") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/a", "1");
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        auto body = [&](transaction_attempt& attempt) -> awaitable<std::string> {
            std::optional<std::string> a = co_await attempt.get(path + "/a");
            if (++calls == 1)
                co_await zk.set(path + "/a", "2");
            co_return a.value();
        };
        std::string read = co_await t.run(body);
        CHECK(read == "2");
        CHECK(calls == 2);
        CHECK(ledgers(path) == 0);
        auto nothing = [](transaction_attempt&) -> awaitable<void> { co_return; };
        auto requests = zk.counters().requests;
        co_await t.run(nothing);
        CHECK(zk.counters().requests == requests);
    });
}

TEST_CASE("optimistic transaction: absence is checked, and costs two changes of the parent") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/b", "0");
        optimistic_transaction t(zk, path + "/ledgers");
        const bool below_missing = GENERATE(false, true);
        const std::string wanted = path + (below_missing ? "/x/y/z" : "/x");
        int calls = 0;
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            bool there = (co_await attempt.get(wanted)).has_value();
            if (++calls == 1)
                co_await zk.ensure_path(wanted);
            attempt.set(path + "/b", there ? "there" : "not there");
        };
        co_await t.run(body);
        CHECK(calls == 2);
        CHECK(data_of(path + "/b") == "there");

        co_await zk.erase_tree(path + "/x");
        auto before = observer().stat(path)->cversion;
        co_await t.run(body);
        CHECK(calls == 3);
        CHECK(data_of(path + "/b") == "not there");
        CHECK(observer().stat(path)->cversion == before + 2);
        CHECK_FALSE(observer().exists(path + "/x"));

        // Created anyway: that is the proof.
        auto creates = [&](transaction_attempt& attempt) -> awaitable<void> {
            bool there = (co_await attempt.get(path + "/x")).has_value();
            if (++calls == 4)
                co_await zk.create(path + "/x");
            if (!there)
                attempt.create(path + "/x");
            else
                attempt.erase(path + "/x");
        };
        co_await t.run(creates);
        CHECK(calls == 5);
        CHECK_FALSE(observer().exists(path + "/x"));
        before = observer().stat(path)->cversion;
        co_await t.run(creates);
        CHECK(observer().exists(path + "/x"));
        CHECK(observer().stat(path)->cversion == before + 1);
    });
}

TEST_CASE("optimistic transaction: writes that are not possible") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/a", "1");
        co_await zk.create(path + "/a/b");
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        auto creates = [&](transaction_attempt& attempt) -> awaitable<void> {
            ++calls;
            attempt.create(path + "/c").create(path + "/a");
            co_return;
        };
        error_code exists = co_await error_of(t.run(creates));
        CHECK(exists == zk_errc::node_exists);
        auto erases = [&](transaction_attempt& attempt) -> awaitable<void> {
            ++calls;
            co_await attempt.get(path + "/a");
            attempt.create(path + "/c").erase(path + "/a");
        };
        error_code not_empty = co_await error_of(t.run(erases));
        CHECK(not_empty == zk_errc::not_empty);
        auto invalid = [&](transaction_attempt& attempt) -> awaitable<void> {
            ++calls;
            attempt.create(path + "/c").set("relative", "");
            co_return;
        };
        error_code bad_path = co_await error_of(t.run(invalid));
        CHECK(bad_path == errc::bad_path);
        auto sequential = [&](transaction_attempt& attempt) -> awaitable<void> {
            ++calls;
            create_options options;
            options.mode = create_mode::persistent_sequential;
            attempt.create(path + "/c").create(path + "/s", "", options);
            co_return;
        };
        error_code bad_option = co_await error_of(t.run(sequential));
        CHECK(bad_option == errc::bad_option);
        CHECK(calls == 4);
        CHECK_FALSE(observer().exists(path + "/c"));
    });
}

TEST_CASE("optimistic transaction: an invalid write that is the first one") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        const bool only = GENERATE(true, false);
        optimistic_transaction t(zk, path + "/ledgers");
        auto others = [&](transaction_attempt& attempt) {
            if (!only)
                attempt.create(path + "/c");
        };
        auto invalid = [&](transaction_attempt& attempt) -> awaitable<void> {
            attempt.set("relative", "");
            others(attempt);
            co_return;
        };
        error_code bad_path = co_await error_of(t.run(invalid));
        CHECK(bad_path == errc::bad_path);
        auto sequential = [&](transaction_attempt& attempt) -> awaitable<void> {
            create_options options;
            options.mode = create_mode::persistent_sequential;
            attempt.create(path + "/s", "", options);
            others(attempt);
            co_return;
        };
        error_code bad_option = co_await error_of(t.run(sequential));
        CHECK(bad_option == errc::bad_option);
        CHECK_FALSE(observer().exists(path + "/c"));
    });
}

TEST_CASE("optimistic transaction: absence below an ephemeral node cannot be checked") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        create_options options;
        options.mode = create_mode::ephemeral;
        co_await zk.create(path + "/e", "", options);
        optimistic_transaction t(zk, path + "/ledgers");
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            co_await attempt.get(path + "/e/child");
        };
        error_code refused = co_await error_of(t.run(body));
        CHECK(refused == zk_errc::no_children_for_ephemerals);
    });
}

TEST_CASE("optimistic transaction: a write fails only after all reads were proved true") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        // The write of /missing fails in front of the create that is to prove the absence of /x.
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            bool there = (co_await attempt.get(path + "/x")).has_value();
            if (++calls == 1)
                co_await zk.create(path + "/x", "1");
            if (there)
                co_return;
            attempt.set(path + "/missing", "2").create(path + "/x", "2");
        };
        co_await t.run(body);
        CHECK(calls == 2);
        CHECK(data_of(path + "/x") == "1");
        co_await zk.erase(path + "/x");
        error_code no_node = co_await error_of(t.run(body));
        CHECK(no_node == zk_errc::no_node);
        CHECK(calls == 3);
    });
}

TEST_CASE("optimistic transaction: an exception counts if the reads belong together") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/a", "1");
        co_await zk.create(path + "/b", "1");
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            std::optional<std::string> a = co_await attempt.get(path + "/a");
            if (++calls == 1) {
                transaction both;
                both.set(path + "/a", "2").set(path + "/b", "2");
                co_await zk.commit(both);
            }
            std::optional<std::string> b = co_await attempt.get(path + "/b");
            attempt.set(path + "/a", "written").create(path + "/c");
            if (a != b)
                throw std::logic_error("different");
            if (a == "3")
                throw std::runtime_error("three");
        };
        co_await t.run(body);
        CHECK(calls == 2);
        CHECK(data_of(path + "/a") == "written");

        co_await zk.set(path + "/a", "3");
        co_await zk.set(path + "/b", "3");
        co_await zk.erase(path + "/c");
        std::string thrown;
        try {
            co_await t.run(body);
        } catch (const std::runtime_error& e) {
            thrown = e.what();
        }
        CHECK(thrown == "three");
        CHECK(calls == 3);
        CHECK_FALSE(observer().exists(path + "/c"));
    });
}

TEST_CASE("optimistic transaction: applied exactly once although a connection is lost") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        optimistic_transaction t(zk, path + "/ledgers");
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
        co_await t.run(body);
        for (int i = 0; i < 12; ++i) {
            const bool applied = i % 2 == 0;
            auto rule = proxy.arm(at_op(wire::multi),
                                  applied ? swallow_reply_and_cut() : drop_request_and_cut());
            // The deletion of the znode that tells may be lost, too.
            auto second = rule;
            if (i % 3 == 1)
                second = proxy.arm(at_op(wire::erase), swallow_reply_and_cut());
            if (i % 3 == 2)
                second = proxy.arm(at_op(wire::erase), drop_request_and_cut());
            co_await t.run(body);
            CHECK(proxy.fired(rule) == 1);
            CHECK(proxy.fired(second) == 1);
            CHECK(data_of(path + "/n") == std::to_string(i + 2));
        }
        CHECK(ledgers(path) == 1);
    });
}

TEST_CASE("optimistic transaction: a late request is not applied") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        optimistic_transaction t(zk, path + "/ledgers");
        int calls = 0;
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            ++calls;
            co_await add_one(attempt, path + "/n");
        };
        co_await t.run(body);
        // The request is lost, and what was read changes before it can be sent again.
        proxy.arm(at_op(wire::multi),
                  call_at_request([&](const frame_info&) { observer().set(path + "/n", "100"); }));
        proxy.arm(at_op(wire::multi, 2), drop_request_and_cut());
        co_await t.run(body);
        CHECK(calls == 4);
        CHECK(data_of(path + "/n") == "101");
    });
}

TEST_CASE("optimistic transaction: deadlines") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            using std::chrono::milliseconds;
            co_await zk.ensure_path(path);
            co_await zk.create(path + "/n", "0");
            optimistic_transaction t(zk, path + "/ledgers");
            auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
            co_await t.run_for(time_limit::for_ever(), body);
            CHECK(data_of(path + "/n") == "1");

            // In the function: nothing is written.
            auto executor = co_await boost::asio::this_coro::executor;
            boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
            bool ended = false;
            auto sleeps = [&](transaction_attempt& attempt) -> awaitable<void> {
                attempt.set(path + "/n", "late");
                co_await never.async_wait(as_tuple());
                ended = true;
            };
            error_code late = co_await error_of(t.run_for(milliseconds(50), sleeps));
            CHECK(late == errc::deadline_exceeded);
            CHECK(ended);
            CHECK(data_of(path + "/n") == "1");

            // Before a function that never suspends.
            auto at_once = [&](transaction_attempt& attempt) -> awaitable<void> {
                attempt.set(path + "/n", "late");
                co_return;
            };
            late = co_await error_of(t.run_until(time_limit::clock::now(), at_once));
            CHECK(late == errc::deadline_exceeded);
            CHECK(data_of(path + "/n") == "1");

            // Conflicts again and again.
            auto loses = [&](transaction_attempt& attempt) -> awaitable<void> {
                co_await add_one(attempt, path + "/n");
                observer().set(path + "/n", "7");
            };
            late = co_await error_of(t.run_for(milliseconds(2'000), loses));
            // Perhaps the last transaction had no response yet.
            CHECK((late == errc::deadline_exceeded || late == zk_errc::connection_loss));
            CHECK(data_of(path + "/n") == "7");

            // While the response is awaited: unknown.
            auto rule = proxy.arm(at_op(wire::multi), hold_reply());
            late = co_await error_of(t.run_for(milliseconds(5'000), body));
            CHECK(late == zk_errc::connection_loss);
            CHECK(proxy.fired(rule) == 1);
            proxy.release(rule);
            co_await t.run(body);
            CHECK(data_of(path + "/n") == "9");

            // In an outage: it was not sent.
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            late = co_await error_of(t.run_for(milliseconds(300), at_once));
            CHECK(late == errc::deadline_exceeded);
            proxy.set_acceptance(acceptance::normal);
            co_await t.run(body);
            CHECK(data_of(path + "/n") == "10");
        },
        run_limit,
        steady_session);
}

TEST_CASE("optimistic transaction: the client is closed while the response is awaited") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        const bool answered = GENERATE(false, true);
        optimistic_transaction t(zk, path + "/ledgers");
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
        co_await t.run(body);
        auto rule = proxy.arm(at_op(wire::multi), hold_reply());
        auto executor = co_await boost::asio::this_coro::executor;
        std::optional<error_code> ended;
        auto transact = [&]() -> awaitable<void> { ended = co_await error_of(t.run(body)); };
        boost::asio::co_spawn(executor, transact, boost::asio::detached);
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        pending_result<> closing;
        zk.close(closing.handler());
        CHECK(zk.state() == session_state::closed);
        if (answered)
            proxy.release(rule);
        co_await finished(closing);
        co_await eventually_async([&] { return ended.has_value(); });
        CHECK(*ended == (answered ? error_code() : make_error_code(zk_errc::connection_loss)));
        CHECK(data_of(path + "/n") == "2");
    });
}

TEST_CASE("optimistic transaction: cancelled, and destroyed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        auto t = std::make_unique<optimistic_transaction>(zk, path + "/ledgers");
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
        bool begun = false;
        bool ended = false;
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            co_await add_one(attempt, path + "/n");
            begun = true;
            co_await never.async_wait(as_tuple());
            ended = true;
        };
        boost::asio::cancellation_signal stop;
        std::exception_ptr failure;
        auto done = [&](std::exception_ptr e) { failure = e; };
        boost::asio::co_spawn(
            executor, t->run(body), boost::asio::bind_cancellation_slot(stop.slot(), done));
        co_await eventually_async([&] { return begun; });
        stop.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return failure != nullptr; });
        CHECK(ended);
        error_code ec;
        try {
            std::rethrow_exception(failure);
        } catch (const boost::system::system_error& e) {
            ec = e.code();
        }
        CHECK(ec == boost::asio::error::operation_aborted);
        CHECK(data_of(path + "/n") == "0");

        begun = false;
        auto destroyed = [&](transaction_attempt& attempt) -> awaitable<void> {
            co_await add_one(attempt, path + "/n");
            t.reset();
        };
        auto running = t->run(destroyed);
        error_code gone = co_await error_of(std::move(running));
        CHECK(gone == boost::asio::error::operation_aborted);
        CHECK(data_of(path + "/n") == "0");
        optimistic_transaction none;
        auto nothing = [](transaction_attempt& attempt) -> awaitable<void> {
            attempt.erase("/a");
            co_return;
        };
        error_code closed = co_await error_of(none.run(nothing));
        CHECK(closed == errc::closed);
        optimistic_transaction invalid(zk, "relative");
        error_code bad = co_await error_of(invalid.run(nothing));
        CHECK(bad == errc::bad_path);
    });
}

TEST_CASE("optimistic transaction: partial cancellation, with and without a deadline") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const bool limited = GENERATE(false, true);
        optimistic_transaction t(zk, path);
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
        bool begun = false;
        bool ended = false;
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            attempt.create(path + "-a");
            begun = true;
            co_await never.async_wait(as_tuple());
            ended = true;
        };
        error_code how;
        auto transact = [&]() -> awaitable<void> {
            co_await boost::asio::this_coro::reset_cancellation_state(
                boost::asio::enable_partial_cancellation());
            const time_limit limit =
                limited ? time_limit(std::chrono::hours(1)) : time_limit::for_ever();
            how = co_await error_of(t.run_for(limit, body));
        };
        boost::asio::cancellation_signal stop;
        bool done = false;
        auto finish = [&](std::exception_ptr) { done = true; };
        boost::asio::co_spawn(
            executor, transact, boost::asio::bind_cancellation_slot(stop.slot(), finish));
        co_await eventually_async([&] { return begun; });
        stop.emit(boost::asio::cancellation_type::partial);
        co_await eventually_async([&] { return done; });
        CHECK(ended);
        CHECK(how == boost::asio::error::operation_aborted);
        CHECK_FALSE(observer().exists(path + "-a"));
    });
}

TEST_CASE("optimistic transaction: an object leaves no znode") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
        {
            optimistic_transaction t(zk, path + "/ledgers");
            co_await t.run(body);
            CHECK(ledgers(path) == 1);
        }
        co_await eventually_async([&] { return ledgers(path) == 0; });
    });
}

TEST_CASE("optimistic transaction: an object leaves no znode if its client is closed at once") {
    with_client([](client&, std::string path) -> awaitable<void> {
        client zk = co_await one_more_client();
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
        {
            optimistic_transaction t(zk, path + "/ledgers");
            co_await t.run(body);
            CHECK(ledgers(path) == 1);
        }
        co_await zk.close();
        CHECK(ledgers(path) == 0);
    });
}

TEST_CASE("optimistic transaction: several of one object at once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        co_await zk.create(path + "/n", "0");
        optimistic_transaction t(zk, path + "/ledgers");
        auto body = [&](transaction_attempt& attempt) { return add_one(attempt, path + "/n"); };
        auto executor = co_await boost::asio::this_coro::executor;
        int left = 8;
        auto many = [&]() -> awaitable<void> {
            for (int i = 0; i < 5; ++i)
                co_await t.run(body);
            --left;
        };
        for (int i = 0; i < 8; ++i)
            boost::asio::co_spawn(executor, many, boost::asio::detached);
        co_await eventually_async([&] { return left == 0; }, std::chrono::seconds(30));
        CHECK(data_of(path + "/n") == "40");
    });
}

namespace {

/// Money that several clients move between accounts, and a receipt for each transfer.
struct bank {
    static constexpr int accounts = 4;
    static constexpr int start = 100;

    explicit bank(std::string path_) : path(std::move(path_)) {}

    std::string account(int i) const { return path + "/account-" + std::to_string(i); }
    std::string receipt(const std::string& name) const { return path + "/receipts/" + name; }

    /// Writes a receipt "from to amount", even if there is nothing to move.
    awaitable<void> transfer(
        transaction_attempt& attempt, std::string name, int from, int to, int amount) const {
        const int a = std::stoi((co_await attempt.get(account(from))).value());
        const int b = std::stoi((co_await attempt.get(account(to))).value());
        const int moved = std::min(a, amount);
        attempt.set(account(from), std::to_string(a - moved));
        attempt.set(account(to), std::to_string(b + moved));
        std::string text =
            std::to_string(from) + ' ' + std::to_string(to) + ' ' + std::to_string(moved);
        attempt.create(receipt(name), text);
    }

    std::string path;
};

awaitable<void> move_money(const bank& b, client& zk, int customer, int& left) {
    optimistic_transaction t(zk, b.path + "/ledgers");
    std::minstd_rand random(static_cast<unsigned>(customer) + 1);
    for (int i = 0; i < 25; ++i) {
        const std::string name = std::to_string(customer) + '-' + std::to_string(i);
        const int from = static_cast<int>(random() % bank::accounts);
        const int to =
            (from + 1 + static_cast<int>(random() % (bank::accounts - 1))) % bank::accounts;
        const int amount = 1 + static_cast<int>(random() % 60);
        auto body = [&](transaction_attempt& attempt) {
            return b.transfer(attempt, name, from, to, amount);
        };
        // A second application would fail: the receipt exists.
        co_await t.run(body);
    }
    --left;
}

}  // namespace

TEST_CASE("optimistic transaction: transfers of several clients whose connections are cut") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    bank b(fresh_path());
    admin hand(shared_server().port());
    hand.plant(b.path + "/receipts");
    for (int i = 0; i < bank::accounts; ++i)
        hand.plant(b.account(i), std::to_string(bank::start));
    constexpr int customers = 4;
    std::vector<rule_id> cuts;
    for (std::uint64_t k = 5; k < 160; k += 11)
        cuts.push_back(proxy.arm(at_op(wire::multi, k), swallow_reply_and_cut()));
    for (std::uint64_t k = 9; k < 160; k += 17)
        cuts.push_back(proxy.arm(at_op(wire::multi, k), drop_request_and_cut()));
    for (std::uint64_t k = 2; k < 12; k += 3)
        cuts.push_back(proxy.arm(at_op(wire::erase, k), swallow_reply_and_cut()));
    std::vector<client> clients;
    int left = customers;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            for (int i = 0; i < customers; ++i)
                clients.push_back(co_await connect_to(proxy.hosts()));
            int customer = 0;
            for (client& c : clients) {
                boost::asio::co_spawn(
                    executor, move_money(b, c, customer++, left), boost::asio::detached);
            }
            co_await eventually_async([&] { return left == 0; }, std::chrono::seconds(60));
            proxy.disarm_all();
            for (client& c : clients)
                co_await c.close(as_tuple());
        },
        std::chrono::seconds(90));
    std::uint64_t fired = 0;
    for (rule_id cut : cuts)
        fired += proxy.fired(cut);
    CHECK(fired > 10);

    std::map<int, int> balance;
    auto receipts = hand.children(b.path + "/receipts");
    CHECK(receipts.size() == customers * 25);
    for (const std::string& name : receipts) {
        std::istringstream text(hand.data(b.receipt(name)));
        int from = 0;
        int to = 0;
        int moved = 0;
        text >> from >> to >> moved;
        balance[from] -= moved;
        balance[to] += moved;
    }
    int sum = 0;
    for (int i = 0; i < bank::accounts; ++i) {
        const int now = std::stoi(hand.data(b.account(i)));
        sum += now;
        CHECK(now == bank::start + balance[i]);
        CHECK(now >= 0);
    }
    CHECK(sum == bank::accounts * bank::start);
    run_to_idle(context);
}

}  // namespace corozk::testing::optimistic_transaction_test
