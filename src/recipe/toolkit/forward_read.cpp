// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/forward_read.hpp"

#include "recipe/toolkit/recipe_core.hpp"

#include <algorithm>
#include <cstdint>

namespace corozk::detail {

namespace {

/// The last session whose server has everything that this client has seen or made before. There is
/// nothing before the first one.
class caught_up final : public service {
public:
    explicit caught_up(port&) noexcept {}
    std::uint64_t generation = 1;

    /// A server without a quorum cannot catch up.
    bool needed(const session_status& status, std::uint64_t session) const noexcept {
        return session > generation && status.state != session_state::read_only;
    }
};

/// Sends a `sync`, if needed, directly followed by `read`, if there is one.
task<error_code> after_sync(port& p, const std::string& path, request* read) {
    caught_up& known = p.use_service<caught_up>();
    error_code synced;
    const session_status& status = p.status();
    // Between two sessions, requests wait for the next one.
    const bool between = status.state == session_state::lost;
    if (known.needed(status, status.generation + (between ? 1 : 0))) {
        request sync(p, op_code::sync, path);
        sync.send();
        if (read)
            read->send();
        synced = co_await sync;
        if (!synced)
            known.generation = std::max(known.generation, sync.sent_in);
        if (synced == zk_errc::not_read_only)
            synced = error_code();
    }
    if (read)
        co_await *read;
    co_return synced;
}

}  // namespace

bool may_lag(port& p, const operation& read) {
    return p.use_service<caught_up>().needed(p.status(), read.sent_in);
}

task<error_code> catch_up(port& p, const std::string& path) {
    return after_sync(p, path, nullptr);
}

task<error_code> read_forward(port& p, request& read) {
    watch_node* const watch = read.watcher();
    for (;;) {
        error_code synced = co_await after_sync(p, read.path, &read);
        if (synced || !may_lag(p, read))
            co_return synced ? synced : read.error;
        read.renew();
        if (watch) {
            watch->disarm();
            read.attach(*watch);
        }
    }
}

task<error_code> watch_creation(port& p, std::string path, watch_node& missing) {
    request exists(p, op_code::exists, path);
    exists.attach(missing);
    error_code ec = co_await read_forward(p, exists);
    if (ec == zk_errc::no_node)
        co_return error_code();
    if (ec) {
        missing.disarm();
        co_return ec;
    }
    // The server has set a watch on its data.
    forget_watch(p, missing, path);
    co_return make_error_code(zk_errc::node_exists);
}

task<error_code> read_or_await(port& p, request& read, watch_node& found, watch_node& missing) {
    for (;;) {
        read.attach(found);
        error_code ec = co_await read_forward(p, read);
        if (!ec)
            co_return ec;
        found.disarm();
        if (ec != zk_errc::no_node)
            co_return ec;
        ec = co_await watch_creation(p, read.path, missing);
        if (ec != zk_errc::node_exists)
            co_return ec ? ec : make_error_code(zk_errc::no_node);
        read.renew();
    }
}

}  // namespace corozk::detail
