// SPDX-License-Identifier: Apache-2.0
// A server without a quorum, which only reads: played by a proxy in front of one that has it.
#pragma once

#include "recipe_fixture.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>

namespace corozk::testing {

/// A server that loses its quorum: from the next connection on it changes nothing, does not catch up,
/// and shows nodes that were read before and erased since.
class lost_quorum {
public:
    explicit lost_quorum(fault_proxy& proxy) : proxy_(proxy) {}

    void begin() {
        proxy_.edit(direction::to_server, [s = state_](const frame_info& frame, std::string bytes) {
            s->lost = s->lost || frame.kind == frame_kind::connect;
            if (!s->lost || !needs_quorum(frame.op))
                return bytes;
            // It becomes a look at "/", whose response becomes the refusal.
            const std::string look("\0\0\0\x03\0\0\0\x01/\0", 10);
            return std::string("\0\0\0\x0e", 4) + bytes.substr(4, 4) + look;
        });
        proxy_.edit(direction::to_client, [s = state_](const frame_info& frame, std::string bytes) {
            // Length, xid, zxid, error.
            constexpr std::size_t header = 20;
            if (s->lost && frame.kind == frame_kind::connect)
                bytes.back() = 1;
            if (frame.kind != frame_kind::reply)
                return bytes;
            if (s->lost && needs_quorum(frame.op)) {
                ++s->refused;
                const std::string not_read_only("\xff\xff\xff\x89", 4);
                return std::string("\0\0\0\x10", 4) + bytes.substr(4, 12) + not_read_only;
            }
            if (frame.op == op_code::get_data && frame.error == 0)
                s->seen[frame.path] = bytes;
            const auto earlier = s->seen.find(frame.path);
            if (s->lost && frame.op == op_code::get_data && frame.error != 0 &&
                earlier != s->seen.end()) {
                const std::string& old = earlier->second;
                bytes = old.substr(0, 4) + bytes.substr(4, 12) + old.substr(header - 4);
            }
            return bytes;
        });
    }

    void end() {
        proxy_.edit(direction::to_server, nullptr);
        proxy_.edit(direction::to_client, nullptr);
        proxy_.cut();
    }

    /// How many requests.
    int refused() const { return state_->refused; }

private:
    static bool needs_quorum(op_code op) {
        return is_create(op) || op == op_code::erase || op == op_code::set_data ||
               op == op_code::multi || op == op_code::sync;
    }

    struct shared {
        bool lost = false;  // used by the proxy's thread
        std::map<std::string, std::string> seen;
        std::atomic<int> refused{0};
    };

    fault_proxy& proxy_;
    std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

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
