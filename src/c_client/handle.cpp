// SPDX-License-Identifier: Apache-2.0
#include "c_client/handle.hpp"

#include "c_client/c_types.hpp"
#include "network/fork_guard.hpp"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/time.h>
#include <utility>

namespace corozk::detail {

namespace {

/// A broadcast address, to which connecting fails immediately on every machine. This makes the C
/// client clean up completely where it would otherwise keep parts of a dead connection.
constexpr const char* nowhere = "255.255.255.255:1";

/// Where the C client begins to connect to before its socket is replaced. On a non-blocking socket
/// this cannot fail at once, unless the machine's loopback interface is down.
constexpr const char* relayed = "127.0.0.1:1";

// The C client's log callback has no context: messages belong to the handle this thread calls.
thread_local const handle::log_function* current_log = nullptr;

/// Active during each call of the C client.
class call_scope {
public:
    explicit call_scope(const handle::log_function& log) noexcept
        : previous_(std::exchange(current_log, &log)) {}
    call_scope(const call_scope&) = delete;
    call_scope& operator=(const call_scope&) = delete;
    ~call_scope() { current_log = previous_; }

private:
    const handle::log_function* previous_;
};

/// The C client does not do so itself. Called under a `fork_guard`, before a child could exec.
void close_on_exec(int descriptor) noexcept {
    if (descriptor >= 0)
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// To shuffle a list of one address, the C client would seed the process's `random` and `drand48`
/// for each address, and meanwhile keep a file open that child processes inherit.
void leave_random_alone() {
    static std::once_flag once;
    std::call_once(once, [] { zoo_deterministic_conn_order(1); });
}

handle_state to_handle_state(int s) noexcept {
    if (s == ZOO_CONNECTED_STATE)
        return handle_state::connected;
    if (s == ZOO_READONLY_STATE)
        return handle_state::read_only;
    if (s == ZOO_CONNECTING_STATE)
        return handle_state::connecting;
    if (s == ZOO_ASSOCIATING_STATE)
        return handle_state::associating;
    if (s == ZOO_EXPIRED_SESSION_STATE)
        return handle_state::expired;
    return handle_state::disconnected;
}

/// The message contains its level: "2026-01-01 00:00:00,000:1(0x7f):ZOO_ERROR@function@123: text".
void on_log(const char* message) {
    if (!current_log || !*current_log || !message)
        return;
    std::string_view text(message);
    if (std::size_t at = text.find(":ZOO_"); at != text.npos)
        text.remove_prefix(at + 5);
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    // Also its errors: to the C client, losing a connection is one, and its reasons are those of its
    // own socket.
    (*current_log)(log_level::debug, text);
}

/// There are no events of watches: it has none.
void on_event(zhandle_t*, int type, int state, const char*, void* context) {
    if (type == ZOO_SESSION_EVENT)
        (*static_cast<const handle::state_function*>(context))(to_handle_state(state));
}

}  // namespace

handle::handle(state_function changed, log_function log) noexcept
    : changed_(std::move(changed)), log_(std::move(log)) {}

std::unique_ptr<handle> handle::make(const client_options& options,
                                     const std::optional<session_credentials>& to_continue,
                                     state_function changed,
                                     log_function log,
                                     error_code& error) {
    std::unique_ptr<handle> made(new handle(std::move(changed), std::move(log)));
    leave_random_alone();
    fork_guard no_fork;
    call_scope scope(made->log_);
    clientid_t known{};
    if (to_continue) {
        known.client_id = to_continue->id;
        to_continue->password.copy(known.passwd, sizeof known.passwd);
    }
    made->zh_ = zookeeper_init2(nowhere,
                                &on_event,
                                static_cast<int>(options.session_timeout.count()),
                                to_continue ? &known : nullptr,
                                &made->changed_,
                                ZOO_NO_LOG_CLIENTENV | (options.allow_read_only ? ZOO_READONLY : 0),
                                &on_log);
    if (!made->zh_) {
        error = error_code(errno, boost::system::generic_category());
        return nullptr;
    }
    // No names: the C client's look-up would block.
    zoo_set_servers_resolution_delay(made->zh_, -1);
    return made;
}

handle::~handle() {
    if (!zh_)
        return;
    call_scope scope(log_);
    // Without its socket the C client closes at once instead of waiting for the server.
    abort();
    zookeeper_close(zh_);
}

void handle::raise_log_level(log_level level) {
    static std::mutex mutex;
    static log_level highest = log_level::off;
    std::lock_guard lock(mutex);
    highest = std::max(highest, level);
    zoo_set_debug_level(highest == log_level::debug ? ZOO_LOG_LEVEL_DEBUG : ZooLogLevel{});
}

handle_state handle::state() const noexcept {
    return to_handle_state(zoo_state(zh_));
}

bool handle::connected() const noexcept {
    handle_state s = state();
    return s == handle_state::connected || s == handle_state::read_only;
}

bool handle::open() const noexcept {
    switch (state()) {
        case handle_state::connecting:
        case handle_state::associating:
        case handle_state::connected:
        case handle_state::read_only: return true;
        default: return false;
    }
}

int handle::open_socket(const std::string& elsewhere) {
    const int descriptor = begin_to_connect(relayed);
    return descriptor >= 0 ? descriptor : begin_to_connect(elsewhere);
}

int handle::begin_to_connect(const std::string& where) {
    // The C client compares addresses without their ports, so it would keep its connection. After
    // a failed send it has closed the socket, but not cleaned up: connecting again would leak a
    // partially read response.
    abort();
    fork_guard no_fork;
    call_scope scope(log_);
    failure_ = 0;
    zoo_set_servers(zh_, where.c_str());
    int descriptor = -1;
    // After a failure the C client does nothing in the next call.
    for (int i = 0; i < 3 && !open(); ++i)
        descriptor = interest();
    close_on_exec(descriptor);
    return descriptor;
}

void handle::look_after_session() {
    // While read-only it would look for a server with a quorum (see `quorum_question`); the session's
    // own heartbeats keep it alive.
    if (state() == handle_state::read_only)
        return;
    call_scope scope(log_);
    interest();
}

/// @return the descriptor, -1 on failure
int handle::interest() {
    int descriptor = -1;
    int events = 0;
    timeval wait{};
    errno = 0;
    if (zookeeper_interest(zh_, &descriptor, &events, &wait) != ZOK)
        failure_ = errno;
    return descriptor;
}

handle::progress handle::process(bool read, bool write) {
    call_scope scope(log_);
    int events = (read ? ZOOKEEPER_READ : 0) | (write ? ZOOKEEPER_WRITE : 0);
    errno = 0;
    int rc = zookeeper_process(zh_, events);
    if (rc == ZOK)
        return progress::packet;
    if (rc == ZNOTHING)
        return progress::nothing;
    failure_ = errno;
    return progress::failed;
}

error_code handle::failure() const noexcept {
    return {failure_, boost::system::system_category()};
}

void handle::abort() {
    const log_function silence;  // errors are intended here
    call_scope scope(silence);
    if (state() == handle_state::expired)
        return;
    // This closes the socket silently; the failing connect then cleans up.
    fork_guard no_fork;
    zoo_set_servers(zh_, nowhere);
    for (int i = 0; i < 3; ++i) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(zh_, &descriptor, &events, &wait) != ZOK)
            break;
    }
}

std::int64_t handle::session_id() const noexcept {
    return zoo_client_id(zh_)->client_id;
}

session_credentials handle::credentials() const {
    const clientid_t* known = zoo_client_id(zh_);
    return {known->client_id, std::string(known->passwd, sizeof known->passwd)};
}

std::chrono::milliseconds handle::negotiated_timeout() const noexcept {
    return std::chrono::milliseconds(zoo_recv_timeout(zh_));
}

}  // namespace corozk::detail
