// SPDX-License-Identifier: Apache-2.0
#include "recipe_fixture.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/tracer.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace corozk::testing::tracer_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

struct record {
    trace_kind kind;
    std::string name;
    std::string path;
    int ends = 0;
    error_code error;
};

/// Installed while it lives; remembers everything.
class recorder final : public tracer {
public:
    recorder() { set_tracer(this); }
    ~recorder() override { set_tracer(nullptr); }

    std::uint64_t started(const trace_point& what) noexcept override {
        records_.push_back({what.kind, std::string(what.name), std::string(what.path), 0, {}});
        return records_.size();
    }
    void finished(std::uint64_t span, const error_code& ec) noexcept override {
        ++records_.at(span - 1).ends;
        records_.at(span - 1).error = ec;
    }

    std::vector<record> of(trace_kind kind, const std::string& name) const {
        std::vector<record> result;
        std::copy_if(
            records_.begin(), records_.end(), std::back_inserter(result), [&](const record& r) {
                return r.kind == kind && r.name == name;
            });
        return result;
    }
    const std::vector<record>& all() const { return records_; }

private:
    std::vector<record> records_;
};

}  // namespace

TEST_CASE("tracer: operations, their requests, and the time for which a lock is held") {
    recorder traces;
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        ownership held = co_await l.acquire();
        std::string node = held.path();
        auto acquired = traces.of(trace_kind::operation, "lock.acquire");
        REQUIRE(acquired.size() == 1);
        CHECK(acquired[0].path == path);
        CHECK(acquired[0].ends == 1);
        CHECK_FALSE(acquired[0].error);
        auto creates = traces.of(trace_kind::request, "create");
        REQUIRE_FALSE(creates.empty());
        CHECK(creates.back().path.starts_with(path));
        auto holding = traces.of(trace_kind::tenure, "hold");
        REQUIRE(holding.size() == 1);
        CHECK(holding[0].path == node);
        CHECK(holding[0].ends == 0);

        co_await held.release();
        CHECK(traces.of(trace_kind::tenure, "hold")[0].ends == 1);
        CHECK(traces.of(trace_kind::operation, "ownership.release").size() == 1);

        std::vector<contender_info> none = co_await l.list_contenders();
        CHECK(none.empty());
        CHECK(traces.of(trace_kind::operation, "lock.list_contenders").size() == 1);

        auto [ec, data] = co_await zk.get(path + "/none", as_tuple());
        CHECK(ec == zk_errc::no_node);
        auto gets = traces.of(trace_kind::operation, "get");
        REQUIRE(gets.size() == 1);
        CHECK(gets[0].error == zk_errc::no_node);
        CHECK(gets[0].ends == 1);
    });
    for (const record& r : traces.all()) {
        INFO(to_string(r.kind) << " " << r.name << " " << r.path);
        CHECK(r.ends == 1);
    }
}

TEST_CASE("tracer: what has no path has none below a znode either") {
    recorder traces;
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        client below = zk.below(path);
        co_await below.create("/a", "1");
        transaction steps;
        steps.set("/a", "2");
        co_await below.commit(steps);
        read_set reads;
        reads.get("/a");
        co_await below.read_all(reads);
        co_await below.get("/a");
        for (const char* name : {"commit", "read_all"}) {
            INFO(name);
            auto requests = traces.of(trace_kind::request, name);
            REQUIRE(requests.size() == 1);
            CHECK(requests[0].path.empty());
        }
        REQUIRE(traces.of(trace_kind::request, "get").size() == 1);
        CHECK(traces.of(trace_kind::request, "get")[0].path == "/a");
    });
}

TEST_CASE("tracer: a tenure that is lost ends with the reason; credentials are not told") {
    recorder traces;
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        co_await zk.add_auth("digest", "user:secret-word");
        lock l(zk, path);
        ownership held = co_await l.acquire();
        co_await zk.erase(held.path());
        co_await held.wait_lost();
        auto holding = traces.of(trace_kind::tenure, "hold");
        REQUIRE(holding.size() == 1);
        CHECK(holding[0].ends == 1);
        CHECK(holding[0].error == errc::ownership_lost);
    });
    for (const record& r : traces.all()) {
        CHECK(r.name.find("secret") == std::string::npos);
        CHECK(r.path.find("secret") == std::string::npos);
    }
}

TEST_CASE("tracer: every token hears of its result as without; cancelling is an end") {
    recorder traces;
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        ownership held = co_await l.acquire();
        boost::asio::cancellation_signal cancel;
        bool called = false;
        error_code seen;
        auto handler = [&](error_code ec, ownership) {
            called = true;
            seen = ec;
        };
        l.acquire(boost::asio::bind_cancellation_slot(cancel.slot(), handler));
        cancel.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return called; });
        CHECK(seen == boost::asio::error::operation_aborted);
        auto attempts = traces.of(trace_kind::operation, "lock.acquire");
        REQUIRE(attempts.size() == 2);
        CHECK(attempts[1].ends == 1);
        CHECK(attempts[1].error == boost::asio::error::operation_aborted);
        co_await held.release();
    });
}

TEST_CASE("counters: histograms of requests, waits and holds") {
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        for (int i = 0; i < 3; ++i) {
            ownership held = co_await l.acquire();
            co_await held.release();
        }
        client_counters c = zk.counters();
        CHECK(c.grants == 3);
        CHECK(c.wait_times.count() == 3);
        CHECK(c.hold_times.count() == 3);
        CHECK(c.request_times.count() == c.responses);
        CHECK(c.request_times.sum() > std::chrono::nanoseconds(0));
        CHECK(c.wait_times.quantile(1.0) > std::chrono::nanoseconds(0));
    });
}

}  // namespace corozk::testing::tracer_test
