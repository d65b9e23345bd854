// SPDX-License-Identifier: Apache-2.0
// The connection ends at each request, and each is cancelled wherever it is.
#include "client_fixture.hpp"
#include "own_requests.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
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

/// One request and its result.
class asked {
public:
    virtual ~asked() = default;
    virtual awaitable<error_code> wait() = 0;
    virtual void check() = 0;
    virtual void cancel(cancellation_type type) = 0;
    virtual int calls() const = 0;
};

template <class Value, class Check>
class asked_for final : public asked {
public:
    explicit asked_for(Check check) : check_(std::move(check)) {}

    awaitable<error_code> wait() override { co_return co_await result.wait(); }
    void check() override { check_(result.value()); }
    void cancel(cancellation_type type) override { result.cancel(type); }
    int calls() const override { return result.calls(); }

    outcome<Value> result;

private:
    Check check_;
};

/// One request of each kind, all at once.
class volley {
    template <class Value = std::monostate, class Check>
    auto add(Check check) {
        auto one = std::make_unique<asked_for<Value, Check>>(std::move(check));
        auto handler = one->result.handler();
        all_.push_back(std::move(one));
        return handler;
    }

public:
    volley(client& zk, std::string path, std::string created) : path_(path), created_(created) {
        auto reads = [](const std::vector<read_result>& r) {
            REQUIRE(r.size() == 3);
            CHECK(r[0].data == "data");
            CHECK(std::count(r[1].names.begin(), r[1].names.end(), "e") == 1);
            CHECK(r[2].error == zk_errc::no_node);
        };
        zk.read_all(read_set().get(path).children(path).get(path + "/none"),
                    add<std::vector<read_result>>(reads));
        auto ephemerals = [path](const std::vector<std::string>& paths) {
            CHECK(paths == std::vector<std::string>{path + "/e"});
        };
        zk.get_ephemerals(path, add<std::vector<std::string>>(ephemerals));
        zk.count_descendants(path + "/a",
                             add<std::size_t>([](std::size_t count) { CHECK(count == 0); }));
        auto identities = [](const std::vector<identity>& all) {
            REQUIRE(all.size() == 1);
            CHECK(all[0].scheme == "ip");
        };
        zk.who_am_i(add<std::vector<identity>>(identities));
        auto watched = [this](persistent_watch& watch) { watch_.emplace(std::move(watch)); };
        zk.add_watch(path, watch_mode::persistent, add<persistent_watch>(watched));
        zk.get(path, add<node_data>([](const node_data& node) { CHECK(node.data == "data"); }));
        zk.exists(path + "/none", add<std::optional<stat>>([](const auto& s) { CHECK(!s); }));
        auto children = [](const node_children& found) { CHECK(found.names.size() == 2); };
        zk.get_children(path, add<node_children>(children));
        zk.get_acl(path,
                   add<node_acl>([](const node_acl& a) { CHECK(a.acl == corozk::open_acl()); }));
        zk.set(path + "/e", "four", add<stat>([](const stat& s) { CHECK(s.data_length == 4); }));
        zk.set_acl(path + "/e", corozk::open_acl(), add<>([](std::monostate) {}));
        zk.sync(path, add<>([](std::monostate) {}));
        auto node = [created](const created_node& n) {
            CHECK(n.path.starts_with(created + "-s0"));
            CHECK(n.stat.czxid != 0);
        };
        create_options sequential;
        sequential.mode = create_mode::persistent_sequential;
        zk.create(created + "-s", "", sequential, add<created_node>(node));
        create_options mortal;
        mortal.mode = create_mode::persistent_with_ttl;
        mortal.ttl = 1h;
        transaction steps;
        steps.create(created, "x", mortal).set(path + "/a", created);
        auto committed = [path, created](const std::vector<transaction_result>& results) {
            REQUIRE(results.size() == 2);
            CHECK(results[0].path == created);
            CHECK(observer().data(at_server(path + "/a")) == created);
        };
        zk.commit(steps, add<std::vector<transaction_result>>(committed));
    }

    std::size_t size() const { return all_.size(); }

    /// Waits for all, and checks those that have a result.
    /// @param allowed  how others may end, and how many of them
    /// @return how many did
    awaitable<std::size_t> end(error_code allowed, std::size_t times) {
        std::size_t failed = 0;
        for (const auto& one : all_) {
            error_code ec = co_await one->wait();
            const bool known = !ec || ec == allowed;
            CHECK(known);
            if (ec)
                ++failed;
            else
                one->check();
        }
        CHECK(failed <= times);
        for (const auto& one : all_)
            CHECK(one->calls() == 1);
        co_return failed;
    }

    /// A watch that was set reports, however the connection fared.
    awaitable<void> use_watch(client& zk) {
        if (!watch_)
            co_return;
        watch_event event;
        do {
            observer().set(at_server(path_), "data");
            event = co_await watch_->next();
        } while (event.type == watch_event_type::unknown);  // after a reconnect
        CHECK(event.type == watch_event_type::data_changed);
        CHECK(event.path == path_);
        CHECK(zk.counters().watches == 1);
    }

    void cancel(std::size_t i, cancellation_type type) { all_[i]->cancel(type); }
    int calls(std::size_t i) const { return all_[i]->calls(); }

    /// Deletes what was created.
    void undo() {
        admin hand = observer();
        const std::string folder = at_server(path_ + "/a");
        for (const std::string& child : hand.children(folder))
            hand.erase(folder + "/" + child);
    }

private:
    std::string path_;
    std::string created_;
    std::vector<std::unique_ptr<asked>> all_;
    std::optional<persistent_watch> watch_;
};

/// Waits for the responses to all that was sent before, over a loss of the connection.
awaitable<void> catch_up(client& zk, std::string path) {
    for (error_code ec = zk_errc::connection_loss; ec;) {
        CHECK(ec == zk_errc::connection_loss);
        auto [failed, node] = co_await zk.exists(path, as_tuple());
        ec = failed;
    }
}

awaitable<void> play(client& zk, std::string path) {
    {
        volley all(zk, path, path + "/a/t");
        co_await all.end(zk_errc::connection_loss, all.size());
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
}

}  // namespace

TEST_CASE("requests: the connection ends at each of them") {
    std::uint64_t requests = 1;
    for (auto fault : {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply}) {
        for (std::uint64_t k = 0; k <= requests; ++k) {
            INFO("request " << k);
            with_proxy(
                [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                    co_await prepare(zk, path);
                    if (k == 0) {
                        rule_id each = count(proxy, at_own_request(at_server(path)));
                        co_await play(zk, path);
                        requests = proxy.fired(each);
                        co_return;
                    }
                    rule_id rule = proxy.arm(at_own_request(at_server(path), k), fault());
                    co_await play(zk, path);
                    CHECK(proxy.fired(rule) == 1);
                    // The last response may have come before the end.
                    co_await eventually_async([&] { return zk.counters().connects == 2; });
                    co_await catch_up(zk, path);
                },
                quiet_options("", steady_session_timeout));
        }
        CHECK(requests > 14);  // one for each kind
    }
}

TEST_CASE("requests: each is cancelled at any time, and the others go on") {
    constexpr cancellation_type types[] = {
        cancellation_type::terminal, cancellation_type::partial, cancellation_type::total};
    with_client(
        [&](client& zk, std::string path) -> awaitable<void> {
            co_await prepare(zk, path);
            std::size_t played = 0;
            for (std::size_t i = 0, size = 1; i < size; ++i) {
                // Until it comes too late.
                int late = 0;
                std::size_t aborted = 0;
                for (int turns = 0; late < 3; turns += 1 + turns / 8) {
                    INFO("request " << i << " after " << turns << " turns");
                    {
                        volley all(zk, path, path + "/a/t" + std::to_string(++played));
                        size = all.size();
                        co_await let_others_run(turns);
                        late = all.calls(i) > 0 ? late + 1 : 0;
                        all.cancel(i, types[played % std::size(types)]);
                        const std::size_t allowed = late > 0 ? 0 : 1;
                        std::size_t failed = co_await all.end(operation_aborted, allowed);
                        aborted += failed;
                        co_await all.use_watch(zk);
                        all.undo();
                    }
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
