// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/raw_session.hpp"

#include "corozk/testing/error.hpp"
#include "corozk/testing/turn_clock.hpp"
#include "jute.hpp"
#include "tcp_socket.hpp"
#include "wire/frame_splitter.hpp"

#include <fmt/format.h>

#include <system_error>

namespace corozk::testing {
namespace {

using detail::jute_reader;
using detail::jute_writer;

constexpr std::int32_t notification_xid = -1;
constexpr std::int32_t ping_xid = -2;
constexpr std::int32_t auth_xid = -4;
constexpr std::size_t password_size = 16;

node_stat read_stat(jute_reader& reader) {
    node_stat stat;
    stat.czxid = reader.int64();
    stat.mzxid = reader.int64();
    stat.ctime = reader.int64();
    stat.mtime = reader.int64();
    stat.version = reader.int32();
    stat.cversion = reader.int32();
    stat.aversion = reader.int32();
    stat.ephemeral_owner = reader.int64();
    stat.data_length = reader.int32();
    stat.num_children = reader.int32();
    stat.pzxid = reader.int64();
    return stat;
}

void write_acl(jute_writer& writer, const std::vector<acl_entry>& acl) {
    writer.int32(static_cast<std::int32_t>(acl.size()));
    for (const auto& entry : acl) {
        writer.int32(entry.permissions).buffer(entry.scheme).buffer(entry.id);
    }
}

std::string path_and_flag(std::string_view path, bool flag) {
    jute_writer writer;
    writer.buffer(path).boolean(flag);
    return writer.bytes();
}

op_code create_op(node_kind kind) {
    switch (kind) {
        case node_kind::container: return op_code::create_container;
        case node_kind::persistent_ttl:
        case node_kind::persistent_sequential_ttl: return op_code::create_ttl;
        default: return op_code::create;
    }
}

}  // namespace

/** The socket with its buffer; turns its errors into connection loss. */
class raw_session::connection {
public:
    connection(std::uint16_t port, detail::deadline until) : socket_{port, until} {}

    void send(std::string_view bytes, detail::deadline until) {
        guarded([&] { socket_.send(bytes, until); });
    }

    /** The next frame without its length. */
    std::string receive(detail::deadline until) {
        for (;;) {
            if (const auto frame = splitter_.next(); !frame.empty()) {
                return {frame.begin() + sizeof(std::int32_t), frame.end()};
            }
            if (std::string problem = splitter_.problem(); !problem.empty()) {
                lose("the server sent " + problem);
            }
            std::size_t got = 0;
            const auto room = splitter_.room(read_size);
            guarded([&] {
                got = socket_.receive(reinterpret_cast<char*>(room.data()), room.size(), until);
            });
            if (got == 0) {
                lose("the server closed the connection");
            }
            splitter_.filled(got);
        }
    }

    bool alive() const noexcept { return socket_.is_open() && !socket_.peer_gone(); }

private:
    static constexpr std::size_t read_size = 65'536;

    [[noreturn]] void lose(const std::string& why) {
        socket_.close();
        throw zookeeper_error{zk_code::connection_loss, why};
    }

    template <class Action>
    void guarded(Action action) {
        if (!socket_.is_open()) {
            throw zookeeper_error{zk_code::connection_loss, "the connection is closed"};
        }
        try {
            action();
        } catch (const std::system_error& error) {
            lose(error.what());
        }
    }

    detail::tcp_socket socket_;
    corozk::detail::frame_splitter splitter_;
};

raw_session::raw_session(std::uint16_t port, raw_session_options options)
    : options_{std::move(options)} {
    try {
        connect(port);
    } catch (const std::system_error& error) {
        throw zookeeper_error{zk_code::connection_loss, error.what()};
    }
}

void raw_session::connect(std::uint16_t port) {
    const aside not_the_loops;
    const auto until = detail::deadline_in(options_.operation_timeout);
    connection_ = std::make_unique<connection>(port, until);
    std::string password = options_.password;
    password.resize(password_size);
    jute_writer request;
    request.int32(0).int64(0).int32(static_cast<std::int32_t>(options_.session_timeout.count()));
    request.int64(options_.session_id).buffer(password).boolean(false);
    connection_->send(detail::framed(request.bytes()), until);
    const std::string answer = connection_->receive(until);
    jute_reader reader{answer};
    reader.int32();  // protocol version
    negotiated_ = std::chrono::milliseconds{reader.int32()};
    session_id_ = reader.int64();
    password_ = reader.buffer();
    if (negotiated_.count() <= 0) {
        connection_.reset();
        throw zookeeper_error{zk_code::session_expired,
                              fmt::format("continuing session {:#x}", options_.session_id)};
    }
}

raw_session::~raw_session() {
    if (!connection_ || !connection_->alive()) {
        return;
    }
    set_operation_timeout(std::chrono::seconds{1});
    try {
        close();
    } catch (const std::exception&) {  // NOLINT: best effort
    }
}

raw_session::raw_session(raw_session&&) noexcept = default;

raw_session& raw_session::operator=(raw_session&& other) noexcept {
    raw_session old{std::move(*this)};
    options_ = std::move(other.options_);
    connection_ = std::move(other.connection_);
    session_id_ = other.session_id_;
    password_ = std::move(other.password_);
    negotiated_ = other.negotiated_;
    last_xid_ = other.last_xid_;
    early_ = std::move(other.early_);
    notifications_ = std::move(other.notifications_);
    return *this;
}

bool raw_session::connected() const noexcept {
    return connection_ && connection_->alive();
}

void raw_session::send(std::int32_t xid, op_code op, std::string_view body) {
    jute_writer request;
    request.int32(xid).int32(static_cast<std::int32_t>(op)).raw(body);
    send_raw(detail::framed(request.bytes()));
}

std::int32_t raw_session::send(op_code op, std::string_view body) {
    send(++last_xid_, op, body);
    return last_xid_;
}

void raw_session::send_raw(std::string_view bytes) {
    if (!connection_) {
        throw zookeeper_error{zk_code::connection_loss, "the session is closed"};
    }
    connection_->send(bytes, detail::deadline_in(options_.operation_timeout));
}

raw_reply raw_session::receive(std::int32_t xid) {
    const aside not_the_loops;
    return receive(xid, detail::deadline_in(options_.operation_timeout));
}

std::optional<raw_reply> raw_session::take_early(std::int32_t xid) {
    for (auto entry = early_.begin(); entry != early_.end(); ++entry) {
        if (entry->first == xid) {
            auto reply = std::move(entry->second);
            early_.erase(entry);
            return reply;
        }
    }
    return std::nullopt;
}

raw_reply raw_session::receive(std::int32_t xid, std::chrono::steady_clock::time_point until) {
    if (!connection_) {
        throw zookeeper_error{zk_code::connection_loss, "the session is closed"};
    }
    if (auto reply = take_early(xid)) {
        return *std::move(reply);
    }
    for (;;) {
        const std::string frame = connection_->receive(until);
        jute_reader reader{frame};
        const auto got = reader.int32();
        raw_reply reply;
        reply.zxid = reader.int64();
        reply.error = static_cast<zk_code>(reader.int32());
        if (got == notification_xid) {
            watch_notification event;
            event.type = reader.int32();
            event.state = reader.int32();
            event.path = reader.buffer();
            notifications_.push_back(std::move(event));
            if (xid == notification_xid) {
                return reply;
            }
            continue;
        }
        reply.body = reader.rest();
        if (got == xid) {
            return reply;
        }
        early_.emplace_back(got, std::move(reply));
    }
}

std::string raw_session::call(op_code op, std::string_view path, std::string_view body) {
    const aside not_the_loops;
    auto reply = receive(send(op, body));
    if (reply.error != zk_code::ok) {
        throw zookeeper_error{reply.error, fmt::format("{} {}", to_string(op), path)};
    }
    return std::move(reply.body);
}

std::string raw_session::create(std::string_view path,
                                std::string_view data,
                                node_kind kind,
                                const std::vector<acl_entry>& acl,
                                std::chrono::milliseconds ttl) {
    const op_code op = create_op(kind);
    jute_writer request;
    request.buffer(path).buffer(data);
    write_acl(request, acl);
    request.int32(static_cast<std::int32_t>(kind));
    if (op == op_code::create_ttl) {
        request.int64(ttl.count());
    }
    const std::string answer = call(op, path, request.bytes());
    return std::string{jute_reader{answer}.buffer()};
}

void raw_session::erase(std::string_view path, std::int32_t version) {
    jute_writer request;
    call(op_code::erase, path, request.buffer(path).int32(version).bytes());
}

std::optional<node_stat> raw_session::exists(std::string_view path, bool watch) {
    const auto reply = receive(send(op_code::exists, path_and_flag(path, watch)));
    if (reply.error == zk_code::no_node) {
        return std::nullopt;
    }
    if (reply.error != zk_code::ok) {
        throw zookeeper_error{reply.error, fmt::format("exists {}", path)};
    }
    jute_reader reader{reply.body};
    return read_stat(reader);
}

std::pair<std::string, node_stat> raw_session::get(std::string_view path, bool watch) {
    const std::string answer = call(op_code::get_data, path, path_and_flag(path, watch));
    jute_reader reader{answer};
    std::string data{reader.buffer()};
    return {std::move(data), read_stat(reader)};
}

node_stat raw_session::set(std::string_view path, std::string_view data, std::int32_t version) {
    jute_writer request;
    request.buffer(path).buffer(data).int32(version);
    const std::string answer = call(op_code::set_data, path, request.bytes());
    jute_reader reader{answer};
    return read_stat(reader);
}

std::vector<std::string> raw_session::children(std::string_view path, bool watch) {
    const std::string answer = call(op_code::get_children, path, path_and_flag(path, watch));
    jute_reader reader{answer};
    std::vector<std::string> names;
    for (auto left = reader.int32(); left > 0 && !reader.failed(); --left) {
        names.emplace_back(reader.buffer());
    }
    return names;
}

std::vector<acl_entry> raw_session::get_acl(std::string_view path) {
    jute_writer request;
    const std::string answer = call(op_code::get_acl, path, request.buffer(path).bytes());
    jute_reader reader{answer};
    std::vector<acl_entry> acl;
    for (auto left = reader.int32(); left > 0 && !reader.failed(); --left) {
        acl_entry entry;
        entry.permissions = reader.int32();
        entry.scheme = reader.buffer();
        entry.id = reader.buffer();
        acl.push_back(std::move(entry));
    }
    return acl;
}

void raw_session::set_acl(std::string_view path,
                          const std::vector<acl_entry>& acl,
                          std::int32_t version) {
    jute_writer request;
    request.buffer(path);
    write_acl(request, acl);
    call(op_code::set_acl, path, request.int32(version).bytes());
}

void raw_session::add_auth(std::string_view scheme, std::string_view credential) {
    jute_writer request;
    request.int32(0).buffer(scheme).buffer(credential);
    send(auth_xid, op_code::auth, request.bytes());
    const auto reply = receive(auth_xid);
    if (reply.error != zk_code::ok) {
        throw zookeeper_error{reply.error, fmt::format("auth {}", scheme)};
    }
}

void raw_session::sync(std::string_view path) {
    jute_writer request;
    call(op_code::sync, path, request.buffer(path).bytes());
}

void raw_session::ping() {
    send(ping_xid, op_code::ping, {});
    receive(ping_xid);
}

watch_notification raw_session::next_notification(std::chrono::milliseconds limit) {
    if (notifications_.empty()) {
        receive(notification_xid, detail::deadline_in(limit));
    }
    auto event = std::move(notifications_.front());
    notifications_.pop_front();
    return event;
}

void raw_session::close() {
    const aside not_the_loops;
    if (!connection_) {
        return;
    }
    receive(send(op_code::close_session, {}));
    connection_.reset();
}

void raw_session::disconnect() noexcept {
    connection_.reset();
}

bool expire_session(std::uint16_t port, std::int64_t session_id, std::string_view password) {
    try {
        raw_session session{port, {.session_id = session_id, .password = std::string{password}}};
        session.close();
        return true;
    } catch (const zookeeper_error& error) {
        if (error.code() == zk_code::session_expired) {
            return false;
        }
        throw;
    }
}

}  // namespace corozk::testing
