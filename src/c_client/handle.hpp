// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include <corozk/logger.hpp>
#include <corozk/options.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace corozk::detail {

/// The C client's connection state.
enum class handle_state : std::uint8_t {
    disconnected,
    connecting,   ///< TCP connection being established
    associating,  ///< session requested
    connected,
    read_only,
    expired,
};

/// A response or event that has arrived.
struct arrival {
    enum class kind_type : std::uint8_t { answer, session_event, watch_event };

    explicit arrival(operation& answered) : kind(kind_type::answer), op(&answered) {}
    explicit arrival(handle_state s) : kind(kind_type::session_event), session(s) {}
    arrival(watch_event_type type, std::string where)
        : kind(kind_type::watch_event), watch(type), path(std::move(where)) {}

    kind_type kind;
    handle_state session = handle_state::disconnected;
    watch_event_type watch = watch_event_type::unknown;
    operation* op = nullptr;
    std::string path;
};

/// Owns a `zhandle_t`: the only class that calls the C client. It keeps the session: establishes it,
/// sends pings, detects its expiry; it is given no requests and no watches. Its events are only
/// appended to the inbox, so that no other code runs inside the C client.
class handle {
public:
    using log_function = std::function<void(log_level, std::string_view)>;

    /// @param to_continue the session to ask for; otherwise a new one
    /// @return null with `error` set if the C client fails.
    static std::unique_ptr<handle> make(const client_options& options,
                                        const std::optional<session_credentials>& to_continue,
                                        std::vector<arrival>& inbox,
                                        log_function log,
                                        error_code& error);
    ~handle();

    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;

    /// The C client has one log level per process: it is the most verbose of all clients' levels.
    static void raise_log_level(log_level level);

    handle_state state() const noexcept;
    bool connected() const noexcept;

    /// Whether it has a socket.
    bool open() const noexcept;

    /// Opens a socket, whose place the caller takes at once (see `relay`): the C client never
    /// connects anywhere. Drops the current connection. @return the descriptor, -1 on failure
    int open_socket();

    /// Sends pings and detects timeouts.
    void look_after_session();

    enum class progress : std::uint8_t { packet, nothing, failed };

    /// Reads (one packet) or writes.
    progress process(bool read, bool write);

    /// Why the last connection failed or was lost; 0 if unknown.
    error_code failure() const noexcept;

    /// Drops the connection.
    void abort();

    std::int64_t session_id() const noexcept;
    session_credentials credentials() const;
    std::chrono::milliseconds negotiated_timeout() const noexcept;

private:
    explicit handle(log_function log) noexcept;
    int interest();

    log_function log_;
    _zhandle* zh_ = nullptr;
    int failure_ = 0;  ///< errno of the last connection
};

}  // namespace corozk::detail
