// SPDX-License-Identifier: Apache-2.0
// The relay of the model, linked in place of the library's: the model's C client has its answers as
// objects, not as frames. It watches the socket of the C client, over which the network says that
// something has arrived or that the connection is over. Requests of the library's own, and their
// responses, are frames here.
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

/// What the frame asks; its paths have the chroot already.
model::request to_request(std::string_view frame) {
    constexpr std::size_t length_and_xid = 8;
    constexpr std::int32_t recursive = 1;
    jute_reader in(frame.substr(length_and_xid));
    const auto op = static_cast<wire_op>(in.int32());
    model::request r(op == wire_op::multi_read  ? model::verb::multi_read
                     : op == wire_op::add_watch ? model::verb::add_watch
                                                : model::verb::remove_watches);
    r.own = true;
    if (op == wire_op::multi_read) {
        for (;;) {
            auto read = static_cast<wire_op>(in.int32());
            bool last = in.boolean();
            in.int32();
            if (last)
                return r;
            model::request& step = r.steps.emplace_back(
                read == wire_op::get_data ? model::verb::get : model::verb::children);
            step.path = in.string();
            in.boolean();
        }
    }
    r.path = in.string();
    r.watch_type = in.int32();
    bool known =
        op == wire_op::remove_watches || (op == wire_op::add_watch && r.watch_type == recursive);
    if (!known)
        model::not_modelled("a request of the relay");
    return r;
}

void put_stat(jute_writer& out, const Stat& s) {
    out.int64(s.czxid).int64(s.mzxid).int64(s.ctime).int64(s.mtime);
    out.int32(s.version).int32(s.cversion).int32(s.aversion).int64(s.ephemeralOwner);
    out.int32(s.dataLength).int32(s.numChildren).int64(s.pzxid);
}

void put_header(jute_writer& out, wire_op op, bool last, int error) {
    out.int32(static_cast<std::int32_t>(op)).boolean(last).int32(error);
}

/// The results of reads: as many as steps, then the mark of the end.
std::string to_body(const model::answer& a, const std::vector<model::request>& steps) {
    jute_writer out;
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        const model::step_result& s = a.steps[i];
        const bool data = steps[i].what == model::verb::get;
        if (s.rc != ZOK) {
            put_header(out, wire_op::error, false, s.rc);
            out.int32(s.rc);
            continue;
        }
        put_header(out, data ? wire_op::get_data : wire_op::get_children, false, 0);
        if (data) {
            out.buffer(s.data);
            put_stat(out, s.stat);
            continue;
        }
        out.int32(static_cast<std::int32_t>(s.names.size()));
        for (const std::string& name : s.names)
            out.buffer(name);
    }
    put_header(out, wire_op::error, true, -1);
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

    void connect(const endpoint& server, const std::string&) override {
        close();
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

    /// Responses to our own requests are not for the C client; events are, when they were reported.
    bool deliver() override {
        for (model::endpoint* e = line(); e && !e->arrived.empty();) {
            model::answer& next = e->arrived.front();
            if (next.kind == model::packet::event && reports_events_ && !next.own) {
                next.own = true;
                report(next);
            } else if (next.kind == model::packet::answer && next.own) {
                model::answer a = std::move(next);
                e->arrived.pop_front();
                respond(a);
            } else {
                break;
            }
        }
        return state_->input;
    }

    void packet_read() noexcept override {}
    void all_read() noexcept override { state_->input = false; }
    void collect() override {}
    void request(std::string frame) override {
        model::endpoint* e = line();
        asked_.push_back(to_request(frame));
        model::server& there = model::network::current()->servers();
        if (model::connection* c = e ? there.find(e->connection) : nullptr)
            there.send(*c, asked_.back());
    }
    void report_events() noexcept override { reports_events_ = true; }
    bool congested() const noexcept override { return false; }
    bool input() const noexcept override { return state_->input; }

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

    void close() override {
        ++state_->connection;
        state_->input = state_->waiting = false;
        socket_.reset();
        asked_.clear();
        reports_events_ = false;
        descriptor_ = -1;
        connected_ = false;
    }

    void begin_session() noexcept override { last_zxid_ = 0; }
    bool carries() const noexcept override { return true; }
    const server_abilities& abilities() const noexcept override { return abilities_; }
    bool unauthenticated() const noexcept override { return false; }
    bool denied() const noexcept override { return false; }
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
        std::string body = to_body(a, asked.steps);
        reception what;
        what.what = reception::kind::own;
        what.error = a.rc;
        what.zxid = a.zxid;
        if (a.rc == ZOK && asked.what == model::verb::multi_read)
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
    bool reports_events_ = false;
    server_abilities abilities_;
    std::deque<model::request> asked_;  ///< and not answered
    std::int64_t last_zxid_ = 0;        ///< of own responses
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
