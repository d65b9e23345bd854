// SPDX-License-Identifier: Apache-2.0
// The relay of the model, linked in place of the library's: the model's C client has its answers as
// objects, not as frames. It watches the socket of the C client, over which the network says that
// something has arrived or that the connection is over.
#include "network/relay.hpp"

#include "c_handle.hpp"
#include "network.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace corozk::detail {

namespace {

class model_relay final : public relay {
public:
    model_relay(const boost::asio::any_io_executor& executor, callback ready)
        : executor_(executor), state_(std::make_shared<shared>(std::move(ready))) {}

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

    /// Asked right before the C client opens its socket.
    bool connected() const noexcept override {
        bool yes = connected_ && !socket_;
        if (model::network* n = model::network::current(); n && yes)
            n->next_address = address_;
        return yes;
    }

    bool attach(int descriptor) override {
        int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        socket_.emplace(executor_, duplicate);
        return true;
    }

    bool deliver() override { return state_->input; }
    void packet_read() noexcept override {}
    void all_read() noexcept override { state_->input = false; }
    void collect() override {}
    void request(std::string) override { model::not_modelled("a request of the relay"); }
    void report_events() noexcept override {}
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
        connected_ = false;
    }

    void begin_session() noexcept override {}
    bool carries() const noexcept override { return true; }
    bool unauthenticated() const noexcept override { return false; }
    const std::string& problem() const noexcept override { return problem_; }
    byte_counts bytes() const noexcept override { return {}; }
    void leave_to_parent() noexcept override {}
    void abandon() noexcept override { close(); }

private:
    /// What handlers may find after this object has gone.
    struct shared {
        explicit shared(callback r) : ready(std::move(r)) {}
        callback ready;
        std::uint64_t connection = 0;  ///< handlers of another one are too late
        bool input = false;
        bool waiting = false;
    };

    boost::asio::any_io_executor executor_;
    std::shared_ptr<shared> state_;
    std::optional<boost::asio::posix::stream_descriptor> socket_;
    std::string address_;
    bool connected_ = false;
    std::string problem_;
};

}  // namespace

std::unique_ptr<relay> relay::make(const boost::asio::any_io_executor& executor,
                                   const client_options&,
                                   callback ready,
                                   reception_handler) {
    return std::make_unique<model_relay>(executor, std::move(ready));
}

}  // namespace corozk::detail
