// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include <corozk/logger.hpp>
#include <corozk/options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace corozk::detail {

/// The C client's connection state, without its header.
enum class handle_state : std::uint8_t {
    disconnected,
    connecting,   ///< a TCP connection is on its way
    associating,  ///< the server has been asked for a session
    connected,
    read_only,
    expired,
    auth_failed,
};

/// What came out of the C client, in its order.
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

/// The owner of one `zhandle_t`: the only place that calls the C client. Its callbacks only record
/// in the inbox; nothing of ours runs inside the C client, and nothing here is called from its
/// callbacks.
class handle {
public:
    using log_function = std::function<void(log_level, std::string_view)>;

    /// Has no server yet. TLS and SASL are only asked for where `has_tls()` and `has_sasl()`.
    /// @return null with `error` set if the C client refuses.
    static std::unique_ptr<handle> make(const client_options& options,
                                        const std::string& chroot,
                                        std::vector<arrival>& inbox,
                                        log_function log,
                                        error_code& error);
    ~handle();

    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;

    /// How talkative the C client is, for the whole process: the most talkative client wins.
    static void raise_log_level(log_level level);

    handle_state state() const noexcept;
    bool connected() const noexcept;

    /// Whether there is a socket.
    bool open() const noexcept;

    struct interest_type {
        int descriptor = -1;
        bool write = false;
    };

    /// Connects if there is no socket; sends pings, notices silence. What to wait for next.
    interest_type interest();

    enum class progress : std::uint8_t { packet, nothing, failed };

    /// Lets the C client read (one packet) or write.
    progress process(bool read, bool write);

    /// Chooses the next server; drops the socket if there is one that leads elsewhere.
    void set_server(const boost::asio::ip::tcp::endpoint& server);

    /// Why the last connection failed or went; 0 if that is not known.
    error_code failure() const noexcept;

    /// Hands a request to the C client. @return false if it did not take it; `op.error` says why.
    /// Afterwards `state` may have become `disconnected` with requests stuck inside: see `abort`.
    bool submit(operation& op);

    /// Drops the connection; all requests inside are answered with `connection_loss`.
    void abort();

    /// Logs nothing any more.
    void silence() noexcept;

    /// Lets the destructor end the session at the server: it may block for seconds, and the
    /// connection must be kept until the server hangs up.
    void part_when_destroyed() noexcept;

    /// Takes a path's watches of all kinds from the C client's tables only.
    void forget_watches(const std::string& path);

    std::int64_t session_id() const noexcept;
    std::chrono::milliseconds negotiated_timeout() const noexcept;

    /// The packet that ends the session at the server, ready to be written to the socket.
    static std::array<unsigned char, 12> close_packet() noexcept;

private:
    handle(std::vector<arrival>& inbox, log_function log, bool encrypted) noexcept;
    void initialize(const client_options& options, const std::string& address);

    std::vector<arrival>& inbox_;
    log_function log_;
    const bool encrypted_;
    bool parts_ = false;  ///< ends its session itself
    _zhandle* zh_ = nullptr;
    int descriptor_ = -1;         ///< the last one that there was
    int failure_ = 0;             ///< errno of the last connection
    std::shared_ptr<void> sasl_;  ///< the C client refers to it
};

/// Destroys a handle without requests inside on a thread of the executor's context. The C client
/// takes 40 ms to free its tables of 50,000 watches, and seconds to say goodbye.
void destroy_elsewhere(std::unique_ptr<handle> h, const boost::asio::any_io_executor& executor);

}  // namespace corozk::detail
