// SPDX-License-Identifier: Apache-2.0
// What tests of authentication share, whatever the mechanism.
#pragma once

#include "connecting.hpp"
#include "recipe_fixture.hpp"
#include <corozk.hpp>

#include <functional>
#include <string>

namespace corozk::testing {

/// Sees that a znode opens to ann what its list allows, over a restart of the server and to all that
/// recipes make, and to nobody else.
/// @param only_ann  names ann as the server does
/// @param as        what a user needs to connect
inline void opens_to_ann_only(server& secure,
                              const corozk::acl& only_ann,
                              const std::function<client_options(const std::string& user)>& as) {
    using std::chrono::seconds;
    auto ann = [&](client& zk) -> boost::asio::awaitable<void> {
        create_options only;
        only.acl = &only_ann;
        co_await zk.create("/ann", "private", only);
        corozk::acl mine = creator_acl();
        create_options created;
        created.acl = &mine;
        co_await zk.create("/mine", "", created);
        node_acl found = co_await zk.get_acl("/mine");
        CHECK(found.acl == only_ann);

        counter number(zk, "/ann/number");
        lock mutex(zk, "/ann/lock");
        ownership held = co_await mutex.acquire();
        co_await number.add(1);
        secure.restart();
        std::int64_t value = co_await number.add(1);
        CHECK(value == 2);
        CHECK(held.valid());
        CHECK(zk.status().generation == 1);
        co_await held.release();
    };
    with_client(as("ann"), ann, seconds(120));

    auto again = [&](client& zk) -> boost::asio::awaitable<void> {
        node_data found = co_await zk.get("/ann");
        CHECK(found.data == "private");
    };
    with_client(as("ann"), again, seconds(60));

    auto others = [&](client& zk) -> boost::asio::awaitable<void> {
        auto [ec, nothing] = co_await zk.get("/ann", as_tuple());
        CHECK(ec == zk_errc::no_auth);
        auto [refused, path] = co_await zk.create("/ann/x", "", create_options(), as_tuple());
        CHECK(refused == zk_errc::no_auth);
    };
    with_client(as("bob"), others, seconds(60));
    client_options stranger = as("bob");
    stranger.sasl.reset();
    with_client(stranger, others, seconds(60));
}

}  // namespace corozk::testing
