// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/linked.hpp"
#include "operation/name_list.hpp"
#include "operation/path_root.hpp"
#include "operation/persistent_watch_node.hpp"
#include "operation/watch_node.hpp"
#include <corozk/error.hpp>
#include <corozk/read_set.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

using steady_clock = std::chrono::steady_clock;
using time_point = steady_clock::time_point;

enum class op_code : std::uint8_t {
    create,
    erase,
    set,
    get,
    exists,
    children,
    sync,
    get_acl,
    set_acl,
    multi,
    add_auth,
    get_config,
    reconfigure,
    remove_watches,
    read_all,
    ephemerals,
    count_descendants,
    who_am_i,
    add_watch,
    set_watches,
};

struct op_kind {
    std::string_view name;  ///< of the client's operation
    bool changes_state;     ///< it matters whether it was applied, and how often
};

/// By `op_code`.
inline constexpr op_kind op_kinds[] = {
    {"create", true},
    {"erase", true},
    {"set", true},
    {"get", false},
    {"exists", false},
    {"get_children", false},
    {"sync", false},
    {"get_acl", false},
    {"set_acl", true},
    {"commit", true},
    {"add_auth", true},
    {"get_config", false},
    {"reconfigure", true},
    {"remove_watches", false},
    {"read_all", false},
    {"get_ephemerals", false},
    {"count_descendants", false},
    {"who_am_i", false},
    {"add_watch", false},
    {"set_watches", false},
};
static_assert(std::size(op_kinds) == static_cast<std::size_t>(op_code::set_watches) + 1);

constexpr std::string_view to_string(op_code code) noexcept {
    return op_kinds[static_cast<std::size_t>(code)].name;
}

constexpr bool changes_state(op_code code) noexcept {
    return op_kinds[static_cast<std::size_t>(code)].changes_state;
}

/// Whether a server needs its leader in order to respond.
constexpr bool needs_leader(op_code code) noexcept {
    return code == op_code::sync || (changes_state(code) && code != op_code::add_auth);
}

/// What the server is asked, by an operation of any kind.
struct request_fields {
    request_fields(op_code code_, std::string path_) : code(code_), path(std::move(path_)) {}

    op_code code;
    create_mode mode = create_mode::persistent;
    bool watch = false;    ///< set a watch at the server
    bool covered = false;  ///< a persistent watch at the same path serves that watch
    watch_mode watching = watch_mode::persistent;  ///< of add_watch
    std::int32_t version = any_version;
    std::string path;
    std::string data;  ///< also the credential of add_auth, and what set_watches sets
    std::chrono::milliseconds ttl{0};
    acl entries;  ///< of create and set_acl; the result of get_acl and who_am_i
    std::vector<transaction::step> steps;  ///< of multi
    std::vector<read_set::item> reads;     ///< of read_all
    std::vector<std::string> arguments;    ///< the members of a reconfiguration
    std::int64_t config_version = -1;
};

/// What it responds.
struct response_fields {
    error_code error;
    std::int64_t zxid = 0;  ///< of the last transaction that the server had seen
    std::string answer;     ///< the path of a created node, or a node's data
    stat record;
    name_list names;
    std::vector<transaction_result> results;
    std::vector<read_result> read_results;
};

/// A request to the server and its response. The owner fills in the request, passes it to
/// `port::start`, and keeps it alive until `finished` is called, exactly once and never from within
/// `start`, or until the port is destroyed.
class operation : public linked, public request_fields, public response_fields {
public:
    enum class progress : std::uint8_t { idle, queued, sent, done };

    operation(op_code code_, std::string path_) : request_fields(code_, std::move(path_)) {}

    virtual void finished() noexcept = 0;

    /// Asked just before it is sent. If not, it finishes with `operation_aborted` instead.
    virtual bool wanted() const noexcept { return true; }

    /// It is being sent.
    virtual void submitted() noexcept {}

    /// The port is destroyed and will not finish it. An operation that owns itself deletes itself.
    virtual void abandoned() noexcept {}

    /// Arms the watch when the operation succeeds.
    void attach(watch_node& watcher) noexcept {
        watch = true;
        watcher_ = &watcher;
        watcher.pending_ = this;
    }

    /// Arms the persistent watch of `add_watch` when it succeeds.
    void attach(persistent_watch_node& watcher, watch_mode how) noexcept {
        persistent_watcher_ = &watcher;
        watcher.pending_ = this;
        watcher.mode_ = how;
        watching = how;
    }

    void detach() noexcept {
        if (watcher_)
            watcher_->pending_ = nullptr;
        watcher_ = nullptr;
        if (persistent_watcher_)
            persistent_watcher_->pending_ = nullptr;
        persistent_watcher_ = nullptr;
    }

    watch_node* watcher() const noexcept { return watcher_; }
    persistent_watch_node* persistent_watcher() const noexcept { return persistent_watcher_; }

    progress state = progress::idle;
    bool owed = false;       ///< sent even while closing, unless it ends with the session anyway
    bool heartbeat = false;  ///< nobody waits for its response, and its loss is none

    /// Whether the path is that of a znode of the user's.
    bool has_own_path() const noexcept;

    /// Makes its paths absolute. The root must outlive it.
    void enter(const path_root& its_root);

    /// Makes its paths, and those of its result, relative again.
    void leave_root();

    /// The session to be used (`session_status::generation`); 0 means any. Fails with
    /// `session_expired` in a later session.
    std::uint64_t generation = 0;

    /// What its paths were relative to, while they are absolute; otherwise null.
    const path_root* root = nullptr;

    std::uint64_t sent_in = 0;  ///< the generation in which it was sent, or 0
    time_point queued_at{};
    time_point sent_at{};
    std::uint64_t span = 0;  ///< a tracer's; 0 if there is none

protected:
    ~operation() { detach(); }

private:
    watch_node* watcher_ = nullptr;
    persistent_watch_node* persistent_watcher_ = nullptr;
};

inline void watch_node::disarm() noexcept {
    if (pending_)
        pending_->detach();
    unlink();
}

inline void persistent_watch_node::disarm() noexcept {
    if (pending_)
        pending_->detach();
    if (!is_linked())
        return;
    unlink();
    keeper_->released(*path_);
}

}  // namespace corozk::detail
