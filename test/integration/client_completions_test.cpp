// SPDX-License-Identifier: Apache-2.0
// What users do in their handlers, while the client still has others to call.
#include "recipe_fixture.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/multiple_exceptions.hpp>

#include <memory>
#include <stdexcept>
#include <vector>

namespace corozk::testing::client_completions_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

/// A context of its own with a connected client.
struct party {
    party() : zk(std::make_unique<client>(context.get_executor(), options())) {
        bool connected = false;
        zk->connect([&](error_code ec) { connected = !ec; });
        while (!connected)
            context.run_one();
    }

    static client_options options() { return options_for(shared_server().hosts()); }

    boost::asio::io_context context;
    std::unique_ptr<client> zk;
};

}  // namespace

TEST_CASE("completions: a handler that throws takes nothing from the others") {
    party p;
    std::vector<int> called;
    for (int i = 0; i < 4; ++i) {
        p.zk->exists("/", [&called, i](error_code ec, std::optional<corozk::stat>) {
            CHECK(!ec);
            called.push_back(i);
            if (i < 2)
                throw std::runtime_error("thrown by a user");
        });
    }
    int thrown = 0;
    while (called.size() < 4) {
        try {
            p.context.run_one();
        } catch (const boost::asio::multiple_exceptions&) {
            thrown += 2;  // both were called in one turn of the loop
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    CHECK(thrown == 2);
    CHECK(called == std::vector<int>{0, 1, 2, 3});
    bool closed = false;
    p.zk->close([&](error_code ec) { closed = !ec; });
    p.context.run();
    CHECK(closed);
}

TEST_CASE("completions: the client is destroyed in a handler") {
    party p;
    int first = 0;
    int others = 0;
    p.zk->exists("/", [&](error_code, std::optional<corozk::stat>) {
        ++first;
        p.zk.reset();
    });
    for (int i = 0; i < 3; ++i)
        p.zk->exists("/", [&](error_code, std::optional<corozk::stat>) { ++others; });
    p.context.run();
    CHECK(first == 1);
    CHECK(others == 3);
}

TEST_CASE("completions: a handler runs the loop itself until something else is done") {
    party p;
    bool inner = false;
    bool outer = false;
    p.zk->exists("/", [&](error_code, std::optional<corozk::stat>) {
        p.zk->exists("/", [&](error_code ec, std::optional<corozk::stat>) { inner = !ec; });
        CHECK_FALSE(inner);
        while (!inner)
            p.context.run_one();
        outer = true;
    });
    while (!outer)
        p.context.run_one();
    CHECK(inner);
}

TEST_CASE("completions: nothing is called inside the call that starts it or ends another one") {
    party p;
    std::string path = fresh_path();
    lock one(*p.zk, path);
    lock two(*p.zk, path);
    boost::asio::cancellation_signal cancel;
    bool inside = false;
    bool refused = false;
    bool over = false;
    two.acquire(boost::asio::bind_cancellation_slot(cancel.slot(), [&](error_code ec, ownership) {
        CHECK_FALSE(inside);
        refused = ec == boost::asio::error::operation_aborted;
    }));
    cancel.emit(boost::asio::cancellation_type::terminal);
    while (!refused)
        p.context.run_one();
    one.acquire([&](error_code ec, ownership held) {
        CHECK(!ec);
        inside = true;
        auto kept = std::make_shared<ownership>(std::move(held));
        two.acquire(boost::asio::bind_cancellation_slot(
            cancel.slot(), [&, kept](error_code problem, ownership) {
                CHECK_FALSE(inside);
                CHECK(problem == boost::asio::error::operation_aborted);
                kept->release([&, kept](error_code last) {
                    CHECK(!last);
                    over = true;
                });
            }));
        cancel.emit(boost::asio::cancellation_type::terminal);
        inside = false;
    });
    while (!over)
        p.context.run_one();
}

}  // namespace corozk::testing::client_completions_test
