// SPDX-License-Identifier: Apache-2.0
// Values that are followed: the configuration with Curator's SharedValue, and the counter with its
// SharedCount, on the same node.
#include "contest.hpp"
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>

namespace corozk::testing::value_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

std::vector<std::string> follower(meeting& at, std::string kind, std::string change = "") {
    return at.arguments({"task=value", "kind=" + kind, "set=" + change, short_session});
}

counter_options shared_count() {
    counter_options options;
    options.compatibility = compatibility::curator;
    options.bits = 32;
    return options;
}

}  // namespace

TEST_CASE(
    "our configuration and Curator's shared value follow each other, and outlive each other") {
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        configuration ours(dying.zk, at.path);
        node_state state = co_await ours.next();
        CHECK_FALSE(state.exists);
        party theirs(party_kind::curator, follower(at, "shared_value"));
        state = co_await ours.next(state);
        CHECK(state.data == "seed");  // they create it
        co_await theirs.says("value seed");
        co_await ours.publish("ours");
        co_await theirs.says("value ours");

        party writer(party_kind::curator, follower(at, "shared_value", "theirs"));
        auto follow = [&](std::string wanted) -> boost::asio::awaitable<void> {
            while (state.data != wanted)
                state = co_await ours.next(state);
        };
        co_await follow("theirs");
        co_await theirs.says("value theirs");
        writer.kill();
        dying.expire();
        at.hand.set(at.path, "while we were away");
        co_await follow("while we were away");
        co_await theirs.says("value while we were away");
        co_await ours.publish("back");
        co_await theirs.says("value back");
        at.tell_to_leave();
        co_await theirs.end();
        CHECK(at.hand.data(at.path) == "back");
        co_await dying.zk.close(as_tuple());
    });
}

TEST_CASE("our counter and Curator's shared count follow each other, and outlive each other") {
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        counter ours(dying.zk, at.path, shared_count());
        std::int64_t value = co_await ours.next();
        CHECK(value == 0);
        party theirs(party_kind::curator, follower(at, "shared_count"));
        value = co_await ours.next();
        CHECK(value == 7);  // they create it
        co_await theirs.says("value 7");
        co_await ours.add(35);
        co_await theirs.says("value 42");

        party writer(party_kind::curator, follower(at, "shared_count", "-5"));
        auto follow = [&](std::int64_t wanted) -> boost::asio::awaitable<void> {
            while (value != wanted)
                value = co_await ours.next();
        };
        co_await follow(-5);
        co_await theirs.says("value -5");
        writer.kill();
        dying.expire();
        co_await ours.exchange(1000);
        co_await follow(1000);
        co_await theirs.says("value 1000");
        at.tell_to_leave();
        co_await theirs.end();
        co_await dying.zk.close(as_tuple());
    });
}

}  // namespace corozk::testing::value_test
