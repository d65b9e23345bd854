// SPDX-License-Identifier: Apache-2.0
// Parents that have given almost 2^31 sequence numbers. No release of the server goes on with
// negative ones in order: it repeats the highest one.
#include "party.hpp"
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>
#include <corozk/testing/port.hpp>

#include <algorithm>
#include <list>
#include <set>

namespace corozk::testing::sequence_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

/// The first number that is given: shortly before those that are reserved, and where the server
/// begins to repeat itself.
constexpr std::int32_t starts[] = {2'147'483'647 - (1 << 20) - 3, 2'147'483'645};

class aged_server {
public:
    explicit aged_server(std::int32_t next) {
        process_options what;
        what.command = java_program(interop_server_class_path, "AgedServer");
        for (const std::string& argument :
             {std::to_string(port_.port()), folder_.path().native(), std::to_string(next)})
            what.command.push_back(argument);
        what.output = folder_.path() / "output";
        process_ = std::make_unique<process_guard>(what);
    }

    std::string hosts() const { return "127.0.0.1:" + std::to_string(port_.port()); }
    std::uint16_t port() const noexcept { return port_.port(); }

private:
    port_reservation port_;
    temporary_directory folder_;
    std::unique_ptr<process_guard> process_;
};

/// `body(one client, another one, path, a hand on the tree)`: at a parent with this next number.
template <class Body>
void at_parent(std::int32_t next, Body body) {
    CAPTURE(next);
    aged_server aged(next);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client_options options = options_for(aged.hosts(), steady_session);
            options.connect_timeout = party_limit;
            client one = co_await client::connect(executor, options);
            client two = co_await client::connect(executor, options);
            admin hand(aged.port());
            const std::string path = hand.plant("/aged/parent");
            co_await eventually_async([&] { return hand.stat(path)->cversion != 0; });
            co_await body(one, two, path, hand);
            co_await two.close();
            co_await one.close();
        },
        party_limit);
    run_to_idle(context);
}

/// Contenders of two clients in turn, until one of each was refused; then all others hold, one
/// after the other. @return how many were refused
template <class Acquire>
awaitable<int> contend(Acquire acquire) {
    std::list<pending_result<ownership>> calls;
    for (int i = 0; i < 12; ++i)
        acquire(i % 2, calls.emplace_back());
    std::set<std::int64_t> tokens;
    int refused = 0;
    while (!calls.empty()) {
        co_await eventually_async([&] {
            return std::any_of(
                calls.begin(), calls.end(), [](const auto& call) { return call.done(); });
        });
        std::size_t holding = 0;
        for (auto& call : calls) {
            if (call.done() && !call.error())
                holding += call.value().valid() ? 1 : 0;
        }
        CHECK(holding <= 1);
        for (auto call = calls.begin(); call != calls.end();) {
            if (!call->done()) {
                ++call;
                continue;
            }
            if (call->error()) {
                CHECK(call->error() == errc::sequence_exhausted);
                ++refused;
            } else {
                CHECK(tokens.insert(call->value().fencing_token()).second);
                CHECK(call->value().fencing_token() == *tokens.rbegin());
                co_await call->value().release();
            }
            call = calls.erase(call);
        }
    }
    co_return refused;
}

/// As an application does: again until it works.
template <class Acquire>
awaitable<ownership> finally_acquire(Acquire acquire) {
    for (;;) {
        pending_result<ownership> call;
        acquire(call);
        error_code ec = co_await finished(call);
        if (!ec)
            co_return std::move(call.value());
        REQUIRE(ec == errc::sequence_exhausted);
    }
}

bool begins_again(const std::string& node) {
    return node.substr(node.size() - 10) < "0000000100";
}

template <class Recipe, class... Arguments>
void one_at_a_time(Arguments... arguments) {
    for (std::int32_t next : starts) {
        at_parent(next, [&](client& one, client& two, std::string path, admin&) -> awaitable<void> {
            Recipe first(one, path);
            Recipe second(two, path);
            Recipe* both[] = {&first, &second};
            const int refused = co_await contend(
                [&](int who, auto& call) { both[who]->acquire(arguments..., call.handler()); });
            CHECK(refused > 0);
            ownership again = co_await finally_acquire(
                [&](auto& call) { second.acquire(arguments..., call.handler()); });
            CAPTURE(again.path());
            CHECK(begins_again(again.path()));
            co_await again.release();
        });
    }
}

}  // namespace

TEST_CASE("sequence: a lock never has two holders, and goes on with a new parent") {
    one_at_a_time<lock>();
}

TEST_CASE("sequence: a priority lock never has two holders, and goes on with a new parent") {
    one_at_a_time<priority_lock>(std::int32_t(3));
}

TEST_CASE("sequence: an election never has two leaders, and goes on with a new parent") {
    for (std::int32_t next : starts) {
        at_parent(next, [&](client& one, client& two, std::string path, admin&) -> awaitable<void> {
            election first(one, path);
            election second(two, path);
            election* both[] = {&first, &second};
            const int refused =
                co_await contend([&](int who, auto& call) { both[who]->campaign(call.handler()); });
            CHECK(refused > 0);
            ownership again =
                co_await finally_acquire([&](auto& call) { second.campaign(call.handler()); });
            CHECK(begins_again(again.path()));
            co_await again.release();
        });
    }
}

TEST_CASE("sequence: a semaphore's limit survives its parent") {
    for (std::int32_t next : starts) {
        at_parent(next, [&](client& one, client& two, std::string path, admin&) -> awaitable<void> {
            semaphore first(one, path, 1);
            semaphore second(two, path, 1);
            semaphore* both[] = {&first, &second};
            const int refused = co_await contend(
                [&](int who, auto& call) { both[who]->acquire(1, call.handler()); });
            CHECK(refused > 0);
            ownership again =
                co_await finally_acquire([&](auto& call) { second.acquire(1, call.handler()); });
            CHECK(begins_again(again.path()));
            semaphore other(one, path, 2);
            auto [mismatch, none] = co_await other.acquire(as_tuple());
            CHECK(mismatch == errc::limit_mismatch);
            co_await again.release();
        });
    }
}

TEST_CASE("sequence: a queue loses no item and hands out none twice") {
    for (std::int32_t next : starts) {
        at_parent(next,
                  [&](client& one, client& two, std::string path, admin& hand) -> awaitable<void> {
                      queue puts(one, path);
                      queue takes(two, path);
                      std::vector<std::string> expected;
                      std::vector<std::string> taken;
                      int refused = 0;
                      for (int i = 0; i < 40; ++i) {
                          const std::string item = std::to_string(i);
                          auto [ec] = co_await puts.put(item, as_tuple());
                          if (ec) {
                              CHECK(ec == errc::sequence_exhausted);
                              ++refused;
                          } else {
                              expected.push_back(item);
                          }
                          if (i % 10 != 9)
                              continue;
                          for (;;) {
                              auto [none, got] = co_await takes.try_take(as_tuple());
                              if (none)
                                  break;
                              taken.push_back(got.data);
                          }
                      }
                      CHECK(taken == expected);
                      CHECK(refused > 0);
                      CHECK(expected.size() > 20);
                      co_await puts.put("last");
                      const auto left = hand.children(path);
                      REQUIRE(left.size() == 1);
                      CHECK(left[0] < "queue-1");
                  });
    }
}

TEST_CASE("sequence: nobody is alone inside a double barrier") {
    for (std::int32_t next : starts) {
        at_parent(next, [&](client& one, client& two, std::string path, admin&) -> awaitable<void> {
            double_barrier first(one, path, 2);
            double_barrier second(two, path, 2);
            int refused = 0;
            int rounds = 0;
            while (refused == 0 || rounds < 3) {
                REQUIRE(rounds < 20);
                std::optional<pending_result<>> a(std::in_place);
                std::optional<pending_result<>> b(std::in_place);
                first.enter(a->handler());
                co_await settle(one);
                CHECK((!a->done() || a->error()));  // never without the other one
                second.enter(b->handler());
                // Who is refused comes again; nobody is inside without the other one.
                for (;;) {
                    co_await eventually_async([&] { return a->done() || b->done(); });
                    if (!a->error() && !b->error())
                        break;
                    ++refused;
                    double_barrier& again = a->error() ? first : second;
                    std::optional<pending_result<>>& its = a->error() ? a : b;
                    const std::optional<pending_result<>>& other = a->error() ? b : a;
                    REQUIRE(its->error() == errc::sequence_exhausted);
                    REQUIRE((!other->done() || other->error()));
                    its.emplace();
                    again.enter(its->handler());
                }
                CHECK(!co_await finished(*a));
                CHECK(!co_await finished(*b));
                ++rounds;
                pending_result<> leaving;
                first.leave(leaving.handler());
                co_await second.leave();
                CHECK(!co_await finished(leaving));
            }
        });
    }
}

TEST_CASE("sequence: a parent keeps its ACL, and stays where it may not be replaced") {
    at_parent(starts[0],
              [](client& one, client&, std::string path, admin& hand) -> awaitable<void> {
                  const acl custom{corozk::acl_entry(
                      permission::read | permission::write | permission::create | permission::erase,
                      "world",
                      "anyone")};
                  const acl guarded{
                      corozk::acl_entry(permission::read | permission::admin, "world", "anyone")};
                  co_await one.set_acl(path, custom);
                  co_await one.set_acl("/aged", guarded);
                  lock exclusive(one, path);
                  auto until_refused = [&exclusive]() -> awaitable<void> {
                      for (int i = 0; i < 10; ++i) {
                          auto [ec, held] = co_await exclusive.acquire(as_tuple());
                          if (ec) {
                              CHECK(ec == errc::sequence_exhausted);
                              co_return;
                          }
                          co_await held.release();
                      }
                      FAIL("never refused");
                  };
                  const std::int64_t old = hand.stat(path)->czxid;
                  co_await until_refused();
                  co_await until_refused();
                  // Behind what the last one tries in the background.
                  co_await one.sync();
                  co_await one.sync();
                  CHECK(hand.stat(path)->czxid == old);

                  co_await one.set_acl("/aged", corozk::open_acl());
                  co_await until_refused();
                  co_await eventually_async([&] {
                      auto now = hand.stat(path);
                      return now && now->czxid != old;
                  });
                  const node_acl now = co_await one.get_acl(path);
                  CHECK(now.acl == custom);
                  ownership held = co_await exclusive.acquire();
                  CHECK(held.valid());
              });
}

TEST_CASE(
    "sequence: where the parent may not be replaced, a put says that its numbers are used up") {
    at_parent(starts[0], [](client& one, client&, std::string path, admin&) -> awaitable<void> {
        queue items(one, path);
        co_await items.put("first");
        const acl guarded{
            corozk::acl_entry(permission::read | permission::admin, "world", "anyone")};
        co_await one.set_acl("/aged", guarded);
        queue_item first = co_await items.take();
        CHECK(first.data == "first");
        error_code ec;
        for (int i = 0; i < 10 && !ec; ++i) {
            auto [problem] = co_await items.put("more", as_tuple());
            ec = problem;
            if (!ec)
                co_await items.take();
        }
        CHECK(ec == errc::sequence_exhausted);
    });
}

}  // namespace corozk::testing::sequence_test
