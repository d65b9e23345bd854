// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>
#include <corozk/logger.hpp>
#include <corozk/options.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

/// Owns a `zhandle_t`: the only class that calls the C client. It keeps the session: establishes it,
/// sends pings, detects its expiry; it is given no requests and no watches.
class handle {
public:
    using log_function = std::function<void(log_level, std::string_view)>;
    using state_function = std::function<void(handle_state)>;

    /// @param to_continue the session to ask for; otherwise a new one
    /// @param changed called within the C client, which must not be called in turn
    /// @return null with `error` set if the C client fails.
    static std::unique_ptr<handle> make(const client_options& options,
                                        const std::optional<session_credentials>& to_continue,
                                        state_function changed,
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
    /// connects anywhere. Drops the current connection.
    /// @param elsewhere a server that can be reached: it sees a connection that ends at once, if there
    ///                  is no loopback interface (IPv6: "::1:2181", as the C client wants it)
    /// @return the descriptor, -1 on failure
    int open_socket(const std::string& elsewhere);

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
    int begin_to_connect(const std::string& where);
    handle(state_function changed, log_function log) noexcept;
    int interest();

    state_function changed_;
    log_function log_;
    _zhandle* zh_ = nullptr;
    int failure_ = 0;  ///< errno of the last connection
};

}  // namespace corozk::detail
