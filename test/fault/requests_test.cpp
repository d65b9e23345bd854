// SPDX-License-Identifier: Apache-2.0
// The requests that the C client does not know, sent by the library itself: the connection ends at each
// of them, and each is cancelled wherever it is.
#include "client_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::requests_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::error::operation_aborted;

namespace {

/// What the requests ask about.
awaitable<void> prepare(client& zk, std::string path) {
    create_options ephemeral;
    ephemeral.mode = create_mode::ephemeral;
    co_await zk.set(path, "data");
    co_await zk.create(path + "/a");
    co_await zk.create(path + "/e", "", ephemeral);
}

/// One request of each kind, all at once.
class volley {
public:
    static constexpr std::size_t size = 6;

    volley(client& zk, std::string path, std::string created)
        : path_(std::move(path)), created_(std::move(created)) {
        zk.read_all(read_set().get(path_).children(path_).get(path_ + "/none"), reads_.handler());
        zk.ephemerals(path_, ephemerals_.handler());
        zk.count_descendants(path_ + "/a", descendants_.handler());
        zk.who_am_i(identities_.handler());
        zk.add_watch(path_, watch_mode::persistent, watched_.handler());
        create_options mortal;
        mortal.mode = create_mode::persistent_with_ttl;
        mortal.ttl = 1h;
        transaction steps;
        steps.create(created_, "x", mortal).set(path_ + "/a", created_);
        zk.commit(steps, committed_.handler());
    }

    /// Waits for all, and checks those that have a result.
    /// @param allowed  how others may end, and how many of them
    /// @return how many did
    awaitable<std::size_t> end(error_code allowed, std::size_t times) {
        std::size_t failed = 0;
        auto fine = [&](error_code ec) {
            bool known = !ec || ec == allowed;
            CHECK(known);
            failed += ec ? 1 : 0;
            return !ec;
        };
        error_code ec = co_await reads_.wait();
        if (fine(ec)) {
            REQUIRE(reads_.value().size() == 3);
            CHECK(reads_.value()[0].data == "data");
            CHECK(std::count(reads_.value()[1].names.begin(), reads_.value()[1].names.end(), "e") ==
                  1);
            CHECK(reads_.value()[2].error == zk_errc::no_node);
        }
        ec = co_await ephemerals_.wait();
        if (fine(ec))
            CHECK(ephemerals_.value() == std::vector<std::string>{path_ + "/e"});
        ec = co_await descendants_.wait();
        if (fine(ec))
            CHECK(descendants_.value() == 0);
        ec = co_await identities_.wait();
        if (fine(ec)) {
            REQUIRE(identities_.value().size() == 1);
            CHECK(identities_.value()[0].scheme == "ip");
        }
        ec = co_await watched_.wait();
        has_watch_ = fine(ec);
        ec = co_await committed_.wait();
        if (fine(ec)) {
            REQUIRE(committed_.value().size() == 2);
            CHECK(committed_.value()[0].path == created_);
            CHECK(observer().data(at_server(path_ + "/a")) == created_);
        }
        CHECK(failed <= times);
        for (std::size_t i = 0; i < size; ++i)
            CHECK(calls(i) == 1);
        co_return failed;
    }

    /// A watch that was set reports, however the connection fared; then it is dropped.
    awaitable<void> use_watch(client& zk) {
        if (!has_watch_)
            co_return;
        persistent_watch watch = std::move(watched_.value());
        watch_event event;
        do {
            observer().set(at_server(path_), "data");
            event = co_await watch.next();
        } while (event.type == watch_event_type::unknown);  // after a reconnect
        CHECK(event.type == watch_event_type::data_changed);
        CHECK(event.path == path_);
        CHECK(zk.counters().watches == 1);
    }

    void cancel(std::size_t i, cancellation_type type) {
        visit(i, [&](auto& o) { o.cancel(type); });
    }
    int calls(std::size_t i) {
        int n = 0;
        visit(i, [&](auto& o) { n = o.calls(); });
        return n;
    }

private:
    template <class Function>
    void visit(std::size_t i, Function f) {
        switch (i) {
            case 0:
                return f(reads_);
            case 1:
                return f(ephemerals_);
            case 2:
                return f(descendants_);
            case 3:
                return f(identities_);
            case 4:
                return f(watched_);
            default:
                return f(committed_);
        }
    }

    std::string path_;
    std::string created_;
    outcome<std::vector<read_result>> reads_;
    outcome<std::vector<std::string>> ephemerals_;
    outcome<std::size_t> descendants_;
    outcome<std::vector<identity>> identities_;
    outcome<persistent_watch> watched_;
    outcome<std::vector<transaction_result>> committed_;
    bool has_watch_ = false;
};

/// Waits for the responses to all that was sent before, over a loss of the connection.
awaitable<void> catch_up(client& zk, std::string path) {
    for (error_code ec = zk_errc::connection_loss; ec;) {
        CHECK(ec == zk_errc::connection_loss);
        auto [failed, node] = co_await zk.exists(path, as_tuple());
        ec = failed;
    }
}

/// @return the number of requests
awaitable<std::uint64_t> play(client& zk, fault_proxy& proxy, std::string path) {
    {
        volley all(zk, path, path + "/a/t");
        co_await all.end(zk_errc::connection_loss, volley::size);
        co_await all.use_watch(zk);
    }
    // The watch is removed.
    co_await let_others_run();
    co_await catch_up(zk, path);
    co_await let_others_run();
    co_await catch_up(zk, path);
    CHECK(zk.counters().watches == 0);
    CHECK(zk.generation() == 1);
    co_await eventually_async([&] { return watch_count(the_server().port()) == 0; });
    co_return proxy.requests();
}

}  // namespace

TEST_CASE("requests: the connection ends at each of them") {
    std::uint64_t requests = 1;
    for (auto fault : {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply}) {
        for (std::uint64_t k = 0; k <= requests; ++k) {
            INFO("request " << k);
            with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                co_await prepare(zk, path);
                proxy.reset_numbering();
                if (k == 0) {
                    requests = co_await play(zk, proxy, path);
                    co_return;
                }
                rule_id rule = proxy.arm(at_request(k), fault());
                co_await play(zk, proxy, path);
                CHECK(proxy.fired(rule) == 1);
                // The last response may have come before the end.
                co_await eventually_async([&] { return zk.counters().connects == 2; });
                co_await catch_up(zk, path);
            });
        }
        CHECK(requests > volley::size);
    }
}

TEST_CASE("requests: each is cancelled at any time, and the others go on") {
    constexpr cancellation_type types[] = {
        cancellation_type::terminal, cancellation_type::partial, cancellation_type::total};
    with_client(
        [&](client& zk, std::string path) -> awaitable<void> {
            co_await prepare(zk, path);
            std::size_t played = 0;
            for (std::size_t i = 0; i < volley::size; ++i) {
                // Until it comes too late.
                int late = 0;
                std::size_t aborted = 0;
                for (int turns = 0; late < 3; turns += 1 + turns / 8) {
                    INFO("request " << i << " after " << turns << " turns");
                    {
                        volley all(zk, path, path + "/a/t" + std::to_string(++played));
                        co_await let_others_run(turns);
                        late = all.calls(i) > 0 ? late + 1 : 0;
                        all.cancel(i, types[played % std::size(types)]);
                        const std::size_t allowed = late > 0 ? 0 : 1;
                        std::size_t failed = co_await all.end(operation_aborted, allowed);
                        aborted += failed;
                        co_await all.use_watch(zk);
                    }
                    admin hand = observer();
                    hand.erase(at_server(path + "/a/t" + std::to_string(played)));
                    co_await zk.sync();
                    co_await let_others_run();
                    co_await zk.sync();
                    CHECK(zk.counters().watches == 0);
                    CHECK(watch_count(the_server().port()) == 0);
                }
                CHECK(aborted > 0);
            }
            CHECK(zk.counters().connects == 1);
        },
        120s);
}

}  // namespace corozk::testing::client_tests::requests_test
