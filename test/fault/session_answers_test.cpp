// SPDX-License-Identifier: Apache-2.0
// Responses that do not fit what was requested: the connection ends, and nothing of them is believed.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/optimistic_transaction.hpp>
#include <corozk/testing/wire_lie.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace corozk::testing::client_tests::session_answers_test {

using namespace corozk;
using namespace corozk::testing;
using wire = corozk::testing::op_code;

namespace {

/// Of an answer: its length, the header (xid, zxid, error), and then what it holds.
constexpr std::size_t body_at = 4 + 16;

/// The list that an answer of this kind begins with announces as many entries. They do not come.
auto announce(wire of, std::uint32_t count) {
    return [of, count](const frame_info& frame, std::string bytes) {
        if (frame.op != of || frame.kind != frame_kind::reply || bytes.size() < body_at + 4)
            return bytes;
        for (std::size_t i = 0; i < 4; ++i)
            bytes[body_at + i] = static_cast<char>(count >> (24 - 8 * i));
        return bytes;
    };
}

/// Answers that say that they are of 65 MiB.
std::string much_longer(const frame_info& frame, std::string bytes) {
    if (frame.kind == frame_kind::reply)
        bytes.replace(0, 4, std::string("\x04\x10\0\0", 4));
    return bytes;
}

/// Of the next answer, which is none to a heartbeat.
auto tell(wire_lie lie) {
    return [told = liar(lie, 1, 1)](const frame_info& frame, std::string bytes) mutable {
        return frame.op == wire::sync ? bytes : told(frame, std::move(bytes));
    };
}

/// In front of the client, until it is taken away.
class spoilt {
public:
    template <class Edit>
    spoilt(fault_proxy& proxy, Edit edit) : proxy_(proxy) {
        proxy_.edit(direction::to_client, std::move(edit));
    }
    ~spoilt() { proxy_.edit(direction::to_client, nullptr); }
    spoilt(const spoilt&) = delete;
    spoilt& operator=(const spoilt&) = delete;

private:
    fault_proxy& proxy_;
};

/// KiB
long most_memory_so_far() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

}  // namespace

TEST_CASE(
    "an answer says that the session is over: it is, for whoever looks, and a new one begins") {
    // A server's own word for it; the connection would end with it, or a moment later.
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        session_status before = zk.status();
        watched_data w = co_await zk.watch_data(path);
        {
            spoilt lie(proxy, tell(wire_lie::session_over));
            auto [ec, data] = co_await zk.get(path, as_tuple());
            CHECK(ec == zk_errc::session_expired);
            CHECK(zk.status().state != session_state::connected);
        }
        auto [ec, event] = co_await w.changed.next(as_tuple());
        CHECK(ec == zk_errc::session_expired);
        co_await zk.get(path);
        CHECK(zk.generation() == before.generation + 1);
        CHECK(zk.session_id() != before.session_id);
        CHECK(zk.counters().expirations == 1);
    };
    with_proxy(body);
}

TEST_CASE("children that were announced and do not come: an error, and the client goes on") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        co_await zk.create(path + "/b");
        for (std::uint32_t count : {1'000u, 1'000'000u, 50'000'000u}) {
            INFO("announced: " << count);
            long before = most_memory_so_far();
            {
                spoilt lie(proxy, announce(wire::get_children2, count));
                auto [ec, listed] = co_await zk.get_children(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(listed.names.empty());
            }
            CHECK(most_memory_so_far() - before < 100 * 1024);
            auto [ec, listed] = co_await zk.get_children(path, as_tuple());
            CHECK_FALSE(ec);
            CHECK(listed.names.size() == 2);
        }
    };
    with_proxy(body);
}

TEST_CASE("an access control list that was announced and does not come: an error") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        for (std::uint32_t count : {1'000u, 1'000'000u}) {
            INFO("announced: " << count);
            {
                spoilt lie(proxy, announce(wire::get_acl, count));
                auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(rights.acl.empty());
            }
            auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
            CHECK_FALSE(ec);
            CHECK(rights.acl.size() == 1);
        }
    };
    with_proxy(body);
}

TEST_CASE("an answer that is longer than 64 MiB: a read is told so, a change is not") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        read_set both;
        both.get(path).children(path);
        {
            spoilt lie(proxy, much_longer);
            auto [not_read, results] = co_await zk.read_all(both, as_tuple());
            CHECK(not_read == errc::too_large);
            CHECK(results.empty());
            CHECK(zk.counters().connection_losses == 1);
            auto [not_listed, listed] = co_await zk.get_children(path, as_tuple());
            CHECK(not_listed == errc::too_large);
            auto [not_set, record] = co_await zk.set(path, "x", any_version, as_tuple());
            CHECK(not_set == zk_errc::connection_loss);
            optimistic_transaction transactions(zk, path);
            const std::vector<std::string> paths{path, "/"};
            auto read = [&](transaction_attempt& t) -> awaitable<void> {
                co_await t.get_all(paths);
            };
            error_code failed;
            try {
                co_await transactions.run(read);
            } catch (const boost::system::system_error& e) {
                failed = e.code();
            }
            CHECK(failed == errc::too_large);
        }
        auto results = co_await zk.read_all(both);
        CHECK(results.size() == 2);
    };
    with_proxy(body, quiet_options("", steady_session_timeout));
}

TEST_CASE("an answer that lists too much: the read is told so") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        {
            spoilt lie(proxy, tell(wire_lie::too_many_children));
            auto [ec, listed] = co_await zk.get_children(path, as_tuple());
            CHECK(ec == errc::too_large);
            CHECK(listed.names.empty());
            CHECK(zk.counters().connection_losses == 1);
        }
        auto [ec, listed] = co_await zk.get_children(path, as_tuple());
        CHECK_FALSE(ec);
    };
    with_proxy(body, quiet_options("", steady_session_timeout));
}

TEST_CASE("transaction_attempt: no read is sent again once its call is over") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        optimistic_transaction transactions(zk, path);
        proxy.arm(at_op(wire::multi_read).times(0), hold_reply());
        const std::vector<std::string> paths{path, "/"};
        auto read = [&](transaction_attempt& t) -> awaitable<void> { co_await t.get_all(paths); };
        auto run = [&]() -> awaitable<void> { co_await transactions.run(read); };
        boost::asio::cancellation_signal cancel;
        error_code ended;
        auto note = [&](std::exception_ptr failure) {
            try {
                if (failure)
                    std::rethrow_exception(failure);
            } catch (const boost::system::system_error& e) {
                ended = e.code();
            }
        };
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::co_spawn(
            executor, run(), boost::asio::bind_cancellation_slot(cancel.slot(), note));
        co_await eventually_async(
            [&] { return proxy.statistics().requests_of(wire::multi_read) == 1; });
        cancel.emit(cancellation_type::terminal);
        co_await eventually_async([&] { return bool(ended); });
        CHECK(ended == boost::asio::error::operation_aborted);
        proxy.cut();
        // Perhaps on the connection that was cut.
        co_await zk.get(path, as_tuple());
        for (int i = 0; i < 5; ++i) {
            auto [ec, node] = co_await zk.get(path, as_tuple());
            CHECK_FALSE(ec);
        }
        CHECK(proxy.statistics().requests_of(wire::multi_read) == 1);
    };
    with_proxy(body, quiet_options("", steady_session_timeout));
}

TEST_CASE("a text or data that do not come: an error, and the client goes on") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/node", "data");
        std::string name;
        for (wire_lie lie : {wire_lie::header_only,
                             wire_lie::huge_inner_length,
                             wire_lie::large_inner_count,
                             wire_lie::negative_inner_length}) {
            INFO("lie: " << to_string(lie));
            name += "a";
            {
                spoilt answer(proxy, tell(lie));
                auto [ec, created] =
                    co_await zk.create(path + "/" + name, "", create_options(), as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(created.path.empty());
                CHECK(created.stat.czxid == 0);
            }
            {
                spoilt answer(proxy, tell(lie));
                auto [ec, node] = co_await zk.get(path + "/node", as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(node.data.empty());
            }
            auto [ec, node] = co_await zk.get(path + "/node", as_tuple());
            CHECK_FALSE(ec);
            CHECK(node.data == "data");
        }
        auto [ec, listed] = co_await zk.get_children(path, as_tuple());
        CHECK_FALSE(ec);
        CHECK(listed.names.size() == 1 + name.size());
    };
    with_proxy(body);
}

TEST_CASE("a change without the record of what it has changed: an error") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        {
            spoilt answer(proxy, tell(wire_lie::header_only));
            auto [ec, record] = co_await zk.set(path, "new", any_version, as_tuple());
            CHECK(ec == zk_errc::connection_loss);
        }
        auto [ec, node] = co_await zk.get(path, as_tuple());
        CHECK_FALSE(ec);
        CHECK(node.data == "new");
    };
    with_proxy(body);
}

TEST_CASE("a list with a negative number of entries: an error") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/node");
        {
            spoilt answer(proxy, tell(wire_lie::negative_inner_length));
            auto [ec, listed] = co_await zk.get_children(path, as_tuple());
            CHECK(ec == zk_errc::connection_loss);
            CHECK(listed.names.empty());
        }
        {
            spoilt answer(proxy, tell(wire_lie::negative_inner_length));
            auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
            CHECK(ec == zk_errc::connection_loss);
            CHECK(rights.acl.empty());
        }
        auto [ec, listed] = co_await zk.get_children(path, as_tuple());
        CHECK_FALSE(ec);
        CHECK(listed.names.size() == 1);
    };
    with_proxy(body);
}

TEST_CASE("a read with nothing in its answer: an error, and the client goes on") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/node");
        for (int i = 0; i < 3; ++i) {
            {
                spoilt answer(proxy, tell(wire_lie::header_only));
                auto [ec, record] = co_await zk.exists(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK_FALSE(record);
            }
            {
                spoilt answer(proxy, tell(wire_lie::header_only));
                auto [ec, listed] = co_await zk.get_children(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(listed.names.empty());
            }
            {
                spoilt answer(proxy, tell(wire_lie::header_only));
                auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(rights.acl.empty());
            }
            auto [ec, listed] = co_await zk.get_children(path, as_tuple());
            CHECK_FALSE(ec);
            CHECK(listed.names.size() == 1);
        }
    };
    with_proxy(body);
}

TEST_CASE("a frame that no server sends: the log says what is wrong with it") {
    std::string logged;
    client_options options = quiet_options("");
    options.logger = logger(log_level::info, [&logged](log_level, std::string_view text) {
        logged += std::string(text) + "\n";
    });
    auto body = [&logged](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const std::pair<wire_lie, const char*> lies[] = {
            {wire_lie::header_only, "response to getData: it is malformed"},
            {wire_lie::answered_twice, "response: none is awaited"},
            {wire_lie::another_xid, "response to getData: its xid is "},
            {wire_lie::three_bytes, "frame: it is shorter than a header"},
            {wire_lie::length_of_2_gib, "a frame with a length of 2147483647"},
            {wire_lie::event_that_ends_early, "event: it is malformed"},
        };
        for (const auto& [lie, reason] : lies) {
            INFO("lie: " << to_string(lie));
            logged.clear();
            std::uint64_t connects = zk.counters().connects;
            {
                spoilt answer(proxy, tell(lie));
                co_await zk.get(path, as_tuple());
                auto again = [&] { return zk.counters().connects > connects; };
                co_await eventually_async(again);
            }
            CHECK_THAT(logged, Catch::Contains(" lost: it sent "));
            CHECK_THAT(logged, Catch::Contains(reason));
        }
    };
    with_proxy(body, options);
}

TEST_CASE("a connect response that no server sends: the log says what is wrong with it") {
    fault_proxy proxy(the_server().port());
    spoilt answer(proxy, liar(wire_lie::no_session, 1, 1, lie_span::from_then));
    client_options options(rooted(proxy.hosts()));
    options.connect_timeout = std::chrono::seconds(5);
    std::string logged;
    options.logger = logger(log_level::warning, [&logged](log_level, std::string_view text) {
        logged += std::string(text) + "\n";
    });
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk(context.get_executor(), options);
        auto [ec] = co_await zk.connect(as_tuple());
        CHECK(ec);
    });
    CHECK_THAT(logged, Catch::Contains("it sent what no server may send"));
    CHECK_THAT(logged, Catch::Contains("response to connect: no session"));
}

TEST_CASE("nodes without data, and those that no transaction has made, are read as they are") {
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        auto [ec, node] = co_await zk.get(path, as_tuple());
        CHECK_FALSE(ec);
        CHECK(node.data.empty());
        auto [root_ec, root] = co_await zk.get("/", as_tuple());
        CHECK_FALSE(root_ec);
        if (chroot().empty()) {
            for (const char* made_by_nobody : {"/", "/zookeeper", "/zookeeper/quota"}) {
                INFO(made_by_nobody);
                auto [exists_ec, record] = co_await zk.exists(made_by_nobody, as_tuple());
                CHECK_FALSE(exists_ec);
                CHECK(record);
                auto [list_ec, listed] = co_await zk.get_children(made_by_nobody, as_tuple());
                CHECK_FALSE(list_ec);
                auto [acl_ec, rights] = co_await zk.get_acl(made_by_nobody, as_tuple());
                CHECK_FALSE(acl_ec);
            }
        }
    };
    with_proxy(body);
}

TEST_CASE("exists: an answer that never came is no record") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        proxy.reset_numbering();
        proxy.arm(at_request(1), swallow_reply_and_cut());
        auto [ec, record] = co_await zk.exists(path, as_tuple());
        CHECK(ec == zk_errc::connection_loss);
        CHECK_FALSE(record);
    };
    with_proxy(body);
}

}  // namespace corozk::testing::client_tests::session_answers_test
