// SPDX-License-Identifier: Apache-2.0
// The relay of the model, linked in place of the library's: requests and responses are frames here, the
// connect request of the model's C client is an object. It watches the socket of the C client, over which
// the network says that something has arrived or that the connection is over.
#include "network/relay.hpp"

#include "c_handle.hpp"
#include "network.hpp"
#include "network/fork_guard.hpp"
#include "network/stream.hpp"
#include "wire/jute.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

model::verb verb_of(wire_op op) {
    switch (op) {
        case wire_op::create:
        case wire_op::create2:
        case wire_op::create_container:
        case wire_op::create_ttl: return model::verb::create;
        case wire_op::remove: return model::verb::erase;
        case wire_op::exists: return model::verb::exists;
        case wire_op::get_data: return model::verb::get;
        case wire_op::set_data: return model::verb::set;
        case wire_op::get_acl: return model::verb::get_acl;
        case wire_op::set_acl: return model::verb::set_acl;
        case wire_op::get_children:
        case wire_op::get_children2: return model::verb::children;
        case wire_op::sync: return model::verb::sync;
        case wire_op::check: return model::verb::check;
        case wire_op::multi: return model::verb::multi;
        case wire_op::multi_read: return model::verb::multi_read;
        case wire_op::add_watch: return model::verb::add_watch;
        case wire_op::remove_watches: return model::verb::remove_watches;
        case wire_op::set_watches: return model::verb::set_watches;
        default: model::not_modelled("a request of the relay");
    }
}

std::vector<model::acl_item> read_acl(jute_reader& in) {
    std::vector<model::acl_item> items;
    for (std::int32_t n = in.int32(); n > 0; --n) {
        model::acl_item& item = items.emplace_back();
        item.perms = in.int32();
        item.scheme = in.string();
        item.id = in.string();
    }
    return items;
}

std::vector<std::string> read_paths(jute_reader& in) {
    std::vector<std::string> paths;
    for (std::int32_t n = in.int32(); n > 0; --n)
        paths.emplace_back(in.string());
    return paths;
}

void read_steps(jute_reader& in, model::request& transaction);

/// What follows the kind of a request, or of a step; its paths have the chroot already.
model::request read_request(jute_reader& in, wire_op op) {
    constexpr std::int32_t recursive = 1;
    model::request r(verb_of(op));
    if (r.what == model::verb::multi || r.what == model::verb::multi_read) {
        read_steps(in, r);
        return r;
    }
    if (r.what == model::verb::set_watches) {
        r.seen = in.int64();
        r.data_watches = read_paths(in);
        r.exists_watches = read_paths(in);
        r.child_watches = read_paths(in);
        return r;
    }
    r.path = in.string();
    switch (r.what) {
        case model::verb::create:
            r.data = in.buffer();
            r.acl = read_acl(in);
            r.mode = in.int32();
            if (op == wire_op::create_ttl)
                in.int64();
            break;
        case model::verb::set:
            r.data = in.buffer();
            r.version = in.int32();
            break;
        case model::verb::set_acl:
            r.acl = read_acl(in);
            r.version = in.int32();
            break;
        case model::verb::erase:
        case model::verb::check: r.version = in.int32(); break;
        case model::verb::get:
        case model::verb::exists:
        case model::verb::children: r.watch = in.boolean(); break;
        case model::verb::add_watch:
        case model::verb::remove_watches:
            r.watch_type = in.int32();
            if (r.what == model::verb::add_watch && r.watch_type != recursive)
                model::not_modelled("a persistent watch of one node");
            break;
        default: break;
    }
    return r;
}

void read_steps(jute_reader& in, model::request& transaction) {
    for (;;) {
        const auto op = static_cast<wire_op>(in.int32());
        const bool last = in.boolean();
        in.int32();
        if (last)
            return;
        transaction.steps.push_back(read_request(in, op));
    }
}

model::request to_request(std::string_view frame) {
    jute_reader in(frame);
    in.int32();  // the xid
    const auto op = static_cast<wire_op>(in.int32());
    return read_request(in, op);
}

void put_stat(jute_writer& out, const Stat& s) {
    out.int64(s.czxid).int64(s.mzxid).int64(s.ctime).int64(s.mtime);
    out.int32(s.version).int32(s.cversion).int32(s.aversion).int64(s.ephemeralOwner);
    out.int32(s.dataLength).int32(s.numChildren).int64(s.pzxid);
}

void put_header(jute_writer& out, wire_op op, bool last, int error) {
    out.int32(static_cast<std::int32_t>(op)).boolean(last).int32(error);
}

void put_names(jute_writer& out, const std::vector<std::string>& names) {
    out.int32(static_cast<std::int32_t>(names.size()));
    for (const std::string& name : names)
        out.buffer(name);
}

void put_acl(jute_writer& out, const std::vector<model::acl_item>& items) {
    out.int32(static_cast<std::int32_t>(items.size()));
    for (const model::acl_item& item : items)
        out.int32(item.perms).buffer(item.scheme).buffer(item.id);
}

void put_step(jute_writer& out, const model::step_result& s, model::verb what) {
    switch (what) {
        case model::verb::create:
            put_header(out, wire_op::create, false, 0);
            out.buffer(s.path);
            break;
        case model::verb::erase: put_header(out, wire_op::remove, false, 0); break;
        case model::verb::set:
            put_header(out, wire_op::set_data, false, 0);
            put_stat(out, s.stat);
            break;
        case model::verb::check: put_header(out, wire_op::check, false, 0); break;
        case model::verb::get:
            put_header(out, wire_op::get_data, false, 0);
            out.buffer(s.data);
            put_stat(out, s.stat);
            break;
        default:
            put_header(out, wire_op::get_children, false, 0);
            put_names(out, s.names);
            break;
    }
}

/// The results of a transaction: as many as steps, then the mark of the end. If one has failed, all
/// are errors, of which 0 is one.
void put_steps(jute_writer& out, const model::answer& a, const std::vector<model::request>& steps) {
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        const model::step_result& s = a.steps[i];
        if (a.rc == ZOK && s.rc == ZOK) {
            put_step(out, s, steps[i].what);
        } else {
            put_header(out, wire_op::error, false, s.rc);
            out.int32(s.rc);
        }
    }
    put_header(out, wire_op::error, true, -1);
}

std::string to_body(const model::answer& a, const model::request& asked) {
    jute_writer out;
    switch (asked.what) {
        case model::verb::multi:
        case model::verb::multi_read: put_steps(out, a, asked.steps); break;
        case model::verb::create:
            out.buffer(a.path);
            put_stat(out, a.stat);
            break;
        case model::verb::get:
            out.buffer(a.data);
            put_stat(out, a.stat);
            break;
        case model::verb::children:
            put_names(out, a.names);
            put_stat(out, a.stat);
            break;
        case model::verb::get_acl:
            put_acl(out, a.acl);
            put_stat(out, a.stat);
            break;
        case model::verb::set:
        case model::verb::exists:
        case model::verb::set_acl: put_stat(out, a.stat); break;
        default: break;
    }
    return out.bytes();
}

/// Registers handlers with the C library before any schedule, whose memory is put back.
[[maybe_unused]] const unsigned forks_before = forks();

class model_relay final : public relay {
public:
    model_relay(const boost::asio::any_io_executor& executor,
                callback ready,
                reception_handler received)
        : executor_(executor),
          state_(std::make_shared<shared>(std::move(ready))),
          received_(std::move(received)) {}

    ~model_relay() override { model_relay::close(); }

    void connect(const endpoint& server, const server_names&) override {
        close();
        seen_before_ = last_zxid_;
        address_ = server.address().to_string() + ":" + std::to_string(server.port());
        connected_ = true;
        auto ready = [state = state_, which = state_->connection] {
            if (which == state->connection)
                state->ready();
        };
        boost::asio::post(executor_, ready);
    }

    bool connecting() const noexcept override { return false; }
    bool shaking_hands() const noexcept override { return false; }
    bool authenticating() const noexcept override { return false; }

    /// Asked right before the C client opens its socket.
    bool connected() const noexcept override {
        bool yes = connected_ && !socket_;
        if (model::network* n = model::network::current(); n && yes) {
            n->next_address = address_;
            n->next_seen = last_zxid_;
        }
        return yes;
    }

    bool attach(int descriptor) override {
        int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        socket_.emplace(executor_, duplicate);
        descriptor_ = descriptor;
        return true;
    }

    bool deliver() override {
        for (model::endpoint* e = line(); e && !e->arrived.empty();) {
            model::answer& next = e->arrived.front();
            if (next.kind != model::packet::event && next.kind != model::packet::answer)
                break;  // for the C client
            const model::answer a = std::move(next);
            e->arrived.pop_front();
            if (a.kind == model::packet::event)
                report(a);
            else
                respond(a);
        }
        return state_->input;
    }

    void packet_read() noexcept override {}
    void all_read() noexcept override { state_->input = false; }
    void collect() override {}
    void flush() override {}
    void vouch_for_server() override {}
    jute_writer& begin_request() override {
        request_.clear();
        return request_;
    }
    void end_request() override {
        model::endpoint* e = line();
        asked_.push_back(to_request(request_.bytes()));
        model::server& there = model::network::current()->servers();
        if (model::connection* c = e ? there.find(e->connection) : nullptr)
            there.send(*c, asked_.back());
    }
    bool congested() const noexcept override { return false; }
    bool input() const noexcept override { return state_->input; }

    /// The model's C client finds out by itself.
    std::chrono::steady_clock::time_point heard_at() const noexcept override {
        return std::chrono::steady_clock::now();
    }

    void wait() override {
        if (!socket_ || state_->waiting || state_->input)
            return;
        state_->waiting = true;
        auto ready = [state = state_,
                      which = state_->connection](const boost::system::error_code& ec) {
            if (which != state->connection)
                return;
            state->waiting = false;
            state->input = !ec;
            if (!ec)
                state->ready();
        };
        socket_->async_wait(boost::asio::posix::stream_descriptor::wait_read, ready);
    }

    bool send_close_request() override {
        state_->input = false;
        if (socket_)
            ::send(socket_->native_handle(), "close", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
        return socket_.has_value();
    }

    void send_ping() override {}  // the model keeps no response back

    bool hung_up() override {
        if (!std::exchange(state_->input, false))
            return false;
        std::array<char, 64> scratch;
        ssize_t n = 0;
        do {
            n = ::recv(socket_->native_handle(), scratch.data(), scratch.size(), MSG_DONTWAIT);
        } while (n > 0);
        return n == 0;
    }

    bool close_confirmed() const noexcept override { return true; }

    void close() override {
        ++state_->connection;
        state_->input = state_->waiting = false;
        socket_.reset();
        asked_.clear();
        descriptor_ = -1;
        connected_ = false;
    }

    void begin_session() noexcept override { last_zxid_ = seen_before_ = 0; }
    std::int64_t last_zxid() const noexcept override { return seen_before_; }
    const server_abilities& abilities() const noexcept override { return abilities_; }
    bool unusable_settings() const noexcept override { return false; }
    sasl_failure authentication_failure() const noexcept override { return sasl_failure::none; }
    bool received_too_much() const noexcept override { return false; }
    const std::string& problem() const noexcept override { return problem_; }
    byte_counts bytes() const noexcept override { return {}; }
    void leave_to_parent() noexcept override {}
    void abandon() noexcept override { close(); }

private:
    void report(const model::answer& event) {
        reception what;
        what.what = reception::kind::event;
        what.event_type = event.event;
        what.path = event.path;
        received_(what);
    }

    void respond(const model::answer& a) {
        model::request asked = std::move(asked_.front());
        asked_.pop_front();
        last_zxid_ = std::max(last_zxid_, a.zxid);
        // The error of a transaction is in its steps.
        const bool good = a.rc == ZOK || (asked.what == model::verb::multi && !a.steps.empty());
        const std::string body = good ? to_body(a, asked) : std::string();
        reception what;
        what.what = reception::kind::response;
        what.op = asked.what == model::verb::create ? wire_op::create2 : wire_op::notification;
        what.error = good ? ZOK : a.rc;
        what.zxid = a.zxid;
        what.body = body;
        received_(what);
    }

    /// What handlers may find after this object has gone.
    struct shared {
        explicit shared(callback r) : ready(std::move(r)) {}
        callback ready;
        std::uint64_t connection = 0;  ///< handlers of another one are too late
        bool input = false;
        bool waiting = false;
    };

    model::endpoint* line() const {
        model::network* n = model::network::current();
        return n && descriptor_ >= 0 ? n->endpoint_at(descriptor_) : nullptr;
    }

    boost::asio::any_io_executor executor_;
    std::shared_ptr<shared> state_;
    reception_handler received_;
    server_abilities abilities_;
    jute_writer request_;               ///< being written
    std::deque<model::request> asked_;  ///< and not answered
    std::int64_t last_zxid_ = 0;        ///< of all responses
    std::int64_t seen_before_ = 0;      ///< on earlier connections
    int descriptor_ = -1;               ///< the C client's
    std::optional<boost::asio::posix::stream_descriptor> socket_;
    std::string address_;
    bool connected_ = false;
    std::string problem_;
};

}  // namespace

std::unique_ptr<relay> relay::make(stream_factory& streams,
                                   callback ready,
                                   reception_handler received) {
    return std::make_unique<model_relay>(streams.executor(), std::move(ready), std::move(received));
}

}  // namespace corozk::detail
