// SPDX-License-Identifier: Apache-2.0
// Nodes that are kept, with Curator's PersistentNode on the same path.
#include "contest.hpp"
#include <corozk/recipe/persistent_node.hpp>

namespace corozk::testing::persistent_node_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

std::vector<std::string> keeper(meeting& at, std::string kind) {
    return at.arguments({"task=keep", "kind=" + kind, "identity=theirs", short_session});
}

std::string data_or_none(meeting& at) {
    return at.hand.exists(at.path) ? at.hand.data(at.path) : "none";
}

}  // namespace

TEST_CASE("our node takes the place of Curator's that has died") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        party theirs(party_kind::curator, keeper(at, "ephemeral"));
        co_await theirs.says("there");
        CHECK(at.hand.data(at.path) == "theirs");
        persistent_node ours(zk, at.path);
        pending_result<> keeping;
        ours.keep("ours", keeping.handler());
        co_await settle(zk);
        CHECK_FALSE(keeping.done());
        CHECK(at.hand.data(at.path) == "theirs");
        theirs.kill();
        co_await eventually_async([&] { return keeping.done(); }, party_limit, "being next");
        CHECK_FALSE(keeping.error());
        CHECK(at.hand.data(at.path) == "ours");
        co_await ours.erase();
    });
    CHECK_FALSE(at.hand.exists(at.path));
}

TEST_CASE("Curator's node takes the place of ours that has died, having written into it before") {
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        persistent_node ours(dying.zk, at.path);
        co_await ours.keep("ours");
        party theirs(party_kind::curator, keeper(at, "ephemeral"));
        co_await theirs.says("there");
        // As documented: it takes the node for its own.
        CHECK(at.hand.data(at.path) == "theirs");
        CHECK(at.hand.stat(at.path)->ephemeral_owner == dying.zk.session_id());
        dying.die();
        auto they_have_it = [&] {
            auto stat = at.hand.stat(at.path);
            return stat && stat->ephemeral_owner != 0 && stat->version == 0 &&
                   data_or_none(at) == "theirs";
        };
        co_await theirs.until(they_have_it, "creating the node");
        dying.come_back();
        co_await settle(dying.zk);
        CHECK_FALSE(ours.present());
        at.tell_to_leave();
        co_await theirs.end();
        co_await eventually_async([&] { return ours.present(); });
        CHECK(at.hand.data(at.path) == "ours");
        co_await ours.erase();
        co_await dying.zk.close(as_tuple());
    });
    CHECK_FALSE(at.hand.exists(at.path));
}

TEST_CASE("a persistent node is kept by both, and is created again whoever deletes it") {
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        party theirs(party_kind::curator, keeper(at, "persistent"));
        co_await theirs.says("there");
        persistent_node_options options;
        options.mode = create_mode::persistent;
        persistent_node ours(zk, at.path, options);
        co_await ours.keep("ours");
        CHECK(at.hand.data(at.path) == "ours");
        CHECK(at.hand.stat(at.path)->ephemeral_owner == 0);
        at.hand.erase(at.path);
        co_await eventually_async([&] { return at.hand.exists(at.path); });
        theirs.kill();
        at.hand.erase(at.path);
        co_await eventually_async([&] { return data_or_none(at) == "ours"; });
        co_await ours.erase();
    });
    CHECK_FALSE(at.hand.exists(at.path));
}

}  // namespace corozk::testing::persistent_node_test
