// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/background_deleter.hpp"

#include "driver/request.hpp"
#include "driver/signal.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/retry.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>

namespace corozk::detail {

namespace {

/// How often a server checks for connections that have been idle for longer than the session
/// timeout, which it closes.
constexpr auto idle_connection_interval = std::chrono::seconds(10);

/// Whether to send it again. What nobody waits for must happen.
task<bool> again_for(port& p, const interest* call, retry& attempts, error_code& ec) {
    if (call)
        co_return co_await again_with_quorum(p, attempts, ec);
    co_return co_await again_until_done(p, attempts, ec);
}

/// Lists a parent after everything that this session has sent before was applied: after a reconnect
/// the new server may lag behind the previous one.
task<error_code> list_all(port& p, std::string parent, std::uint64_t generation, name_list& names) {
    retry attempts(p, generation);
    for (;;) {
        request listing(p, op_code::children, parent, generation);
        error_code ec = co_await behind_sync(p, listing);
        if (co_await again_until_done(p, attempts, ec))
            continue;
        names = std::move(listing.names);
        co_return ec;
    }
}

}  // namespace

task<error_code> delete_reliably(port& p, std::string path, std::uint64_t generation) {
    retry attempts(p, generation);
    for (;;) {
        request erase(p, op_code::erase, path, generation);
        erase.owed = true;
        error_code ec = co_await erase;
        if (!co_await again_until_done(p, attempts, ec))
            co_return ec == zk_errc::no_node ? error_code() : ec;
    }
}

task<> delete_or_report(port& p, std::string path, std::uint64_t generation) {
    error_code ec = co_await delete_reliably(p, path, generation);
    if (ec && !is_session_lost(ec))
        p.report(log_level::warning, "could not delete ", path, ": ", ec.message());
}

task<error_code> erase_one(port& p, const interest* call, std::string path, bool& erased) {
    std::optional<std::int64_t> meant;
    retry attempts(p);
    erased = false;
    for (;;) {
        // The server may lag behind and not have the node yet.
        request look(p, op_code::exists, path);
        look.only_for(call);
        look.owed = !call;
        error_code ec = co_await behind_sync(p, look);
        retry looking = attempts;  // it leaves no doubt
        if (co_await again_for(p, call, looking, ec))
            continue;
        if (ec == zk_errc::no_node) {
            // After a lost response: deleted by this client or another one.
            erased = attempts.doubtful();
            co_return error_code();
        }
        if (ec)
            co_return ec;
        // Another one of that name: the first was deleted, by this client or another one.
        if (meant.value_or(look.record.czxid) != look.record.czxid) {
            erased = attempts.doubtful();
            co_return error_code();
        }
        meant = look.record.czxid;
        request erase(p, op_code::erase, path);
        erase.only_for(call);
        erase.owed = !call;
        ec = co_await erase;
        if (co_await again_for(p, call, attempts, ec))
            continue;
        erased = !ec || attempts.doubtful();
        co_return ec == zk_errc::no_node ? error_code() : ec;
    }
}

task<error_code> erase_present(recipe_core& core, const interest& call, const std::string& path) {
    bool erased = false;
    error_code ec = co_await erase_one(core.get_port(), &call, path, erased);
    co_return ec || erased ? ec : make_error_code(zk_errc::no_node);
}

void background_deleter::erase(std::string path, std::uint64_t generation) {
    port_.spawn(delete_or_report(port_, std::move(path), generation));
}

void background_deleter::erase_late(std::string parent,
                                    std::string stem,
                                    std::uint64_t generation) {
    bool idle = late_.empty();
    time_point due = port_.now() + port_.status().negotiated_timeout + idle_connection_interval;
    late_.push_back({std::move(parent), std::move(stem), generation, due});
    if (idle)
        port_.spawn(erase_late_nodes());
}

task<> background_deleter::erase_late_nodes() {
    signal wake(port_);
    alarm due(port_, wake);
    session_signal state(port_, wake);
    while (!late_.empty()) {
        late_node first = late_.front();
        if (!port_.alive(first.generation)) {
            late_.pop_front();
            continue;
        }
        if (port_.now() < first.due) {
            due.set(first.due);
            co_await wake.wait();
            continue;
        }
        // One listing for all due nodes below this parent.
        name_list names;
        error_code ec = co_await list_all(port_, first.parent, first.generation, names);
        if (ec && ec != zk_errc::no_node && !is_session_lost(ec)) {
            port_.report(log_level::warning,
                         "cannot look for nodes that were created late below ",
                         first.parent,
                         ": ",
                         ec.message());
        }
        std::set<std::string, std::less<>> stems;
        std::erase_if(late_, [&](const late_node& n) {
            bool covered = n.parent == first.parent && n.generation == first.generation &&
                           n.due <= port_.now();
            if (covered)
                stems.insert(n.stem);
            return covered;
        });
        for (std::size_t i = 0; !ec && i < names.size(); ++i) {
            auto at = stems.upper_bound(names[i]);
            if (at == stems.begin() || !names[i].starts_with(*--at))
                continue;
            erase(join_path(first.parent, names[i]), first.generation);
        }
    }
}

}  // namespace corozk::detail
