// SPDX-License-Identifier: Apache-2.0
// A server without a quorum, which only reads: played by a proxy in front of one that has it.
#pragma once

#include "recipe_fixture.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <string>

namespace corozk::testing {

/// Runs `body(zk, regain_quorum, path)` with a client that is content with such a server, until
/// `regain_quorum()`.
template <class Body>
void with_read_only_server(Body body) {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    // The last byte of the answer to a connect request says whether the server only reads.
    proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
        if (frame.kind == frame_kind::connect)
            bytes.back() = 1;
        return bytes;
    });
    auto regain_quorum = [&] {
        proxy.edit(direction::to_client, nullptr);
        proxy.cut();
    };
    run(context, [&]() -> boost::asio::awaitable<void> {
        client_options options = options_for(proxy.hosts());
        options.allow_read_only = true;
        client zk = co_await client::connect(co_await boost::asio::this_coro::executor, options);
        REQUIRE(zk.state() == session_state::read_only);
        std::string path = fresh_path();
        co_await body(zk, regain_quorum, path);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

}  // namespace corozk::testing
