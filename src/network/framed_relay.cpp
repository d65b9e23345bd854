// SPDX-License-Identifier: Apache-2.0
#include "network/inner_socket.hpp"
#include "network/relay.hpp"
#include "network/stream.hpp"
#include "wire/conversation.hpp"
#include "wire/frame_splitter.hpp"
#if COROZK_HAS_SASL
#include "network/sasl.hpp"
#endif

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

/// Whether it is the response to closeSession: a length, xid 0, a zxid, no error.
bool confirms_close(std::span<const unsigned char> frame) {
    constexpr std::size_t response_size = 4 + 4 + 8 + 4;
    auto is_zero = [](unsigned char byte) { return byte == 0; };
    return frame.size() == response_size &&
           std::all_of(frame.begin() + 4, frame.begin() + 8, is_zero) &&
           std::all_of(frame.begin() + 16, frame.end(), is_zero);
}

class framed_relay final : public relay {
public:
    framed_relay(stream_factory& streams, callback ready, reception_handler received)
        : ready_(std::move(ready)),
          received_(std::move(received)),
          streams_(streams),
          known_{server_abilities(streams.options().dialect == server_dialect::automatic)} {}

    ~framed_relay() override { framed_relay::close(); }

    void connect(const endpoint& server, const server_names& names) override {
        close();
        ending_ = ending();
        sasl_.failure = sasl_failure::none;
        sasl_.server = names.front();
        stream_ = streams_.make(names, [this] { ready_(); });
        conversation_.emplace(
            known_.last_zxid,
            static_cast<std::int32_t>(streams_.options().session_timeout.count()));
        known_.abilities.connecting(server.address().to_string() + ' ' +
                                    std::to_string(server.port()));
        stream_->connect(server);
    }

    bool connecting() const noexcept override {
        return stream_ && !stream_->connected() && !stream_->ended();
    }

    bool connected() const noexcept override {
        return stream_ && stream_->connected() && !inner_.open() && !conversation_->started();
    }

    bool attach(int descriptor) override {
        if (inner_.replace(descriptor))
            return true;
        close();
        ending_.problem = "no socket for the C client";
        return false;
    }

    bool deliver() override {
        if (!inner_.unread())
            receive();
        if (inner_.unread())
            return true;
        // The C client reads the end of the connection.
        bool over = stream_ && stream_->ended() && inner_.open();
        if (over)
            inner_.end();
        return over;
    }

    void packet_read() noexcept override { inner_.frame_read(); }

    void all_read() noexcept override { inner_.all_read(); }

    void collect() override {
        flush();
        std::size_t size = usual;
        while (stream_ && stream_->connected() && !stream_->congested()) {
            std::span<unsigned char> room = outgoing_.room(size);
            std::size_t n = inner_.read(room);
            if (n == 0)
                return;
            size = many;
            outgoing_.filled(n);
            send_frames();
            if (n < room.size())
                return;
        }
    }

    jute_writer& begin_request() override {
        requests_.unsent.begin_frame();
        return requests_.unsent;
    }

    void end_request() override {
        if (conversation_)
            note(requests_.unsent.end_frame());
        if (requests_.unsent.bytes().size() >= many)
            flush();
    }

    void flush() override {
        const std::string& bytes = requests_.unsent.bytes();
        if (bytes.empty())
            return;
        if (conversation_)
            send({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
        requests_.unsent.clear();
    }

    void vouch_for_server() override {
        // The response to a ping, which the C client accepts at any time.
        static constexpr std::array<unsigned char, 20> pong{0, 0, 0, 16, 0xff, 0xff, 0xff, 0xfe};
        if (!inner_.unread())
            inner_.write(pong);
    }

    std::int64_t last_zxid() const noexcept override { return known_.last_zxid; }

    void begin_session() noexcept override { known_.last_zxid = 0; }

    bool congested() const noexcept override { return stream_ && stream_->congested(); }

    bool input() const noexcept override {
        return stream_ &&
               (inner_.unread() || stream_->input() || (stream_->ended() && inner_.open()));
    }

    std::chrono::steady_clock::time_point heard_at() const noexcept override { return heard_at_; }

    // An idle connection takes little memory for what it reads and writes.
    void wait() override {
        incoming_.release(usual);
        outgoing_.release(usual);
        requests_.unsent.release(usual);
        if (stream_)
            stream_->wait_for_input();
    }

    bool shaking_hands() const noexcept override { return stream_ && stream_->shaking_hands(); }

    bool authenticating() const noexcept override { return sasl_.busy(); }

    bool send_close_request() override {
        collect();
        inner_.all_read();
        // Length 8, xid 0, operation -11 (closeSession).
        static constexpr std::array<unsigned char, 12> packet{
            0, 0, 0, 8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf5};
        if (!stream_ || !stream_->connected())
            return false;
        send(packet);
        ending_.requested = true;
        return true;
    }

    void send_ping() override {
        // Length 8, xid -2, operation 11.
        static constexpr std::array<unsigned char, 12> packet{
            0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11};
        if (stream_ && stream_->connected())
            send(packet);
    }

    bool hung_up() override {
        constexpr int reads_per_call = 64;
        for (int i = 0; i < reads_per_call && stream_ && stream_->input(); ++i) {
            const std::size_t n = stream_->read(incoming_.room(usual));
            incoming_.filled(n);
            bytes_.received += n;
            for (auto frame = incoming_.next(); !frame.empty(); frame = incoming_.next())
                ending_.close_confirmed = ending_.close_confirmed || confirms_close(frame);
            if (!incoming_.problem().empty())
                incoming_.clear();
        }
        return !stream_ || stream_->ended();
    }

    bool close_confirmed() const noexcept override { return ending_.close_confirmed; }

    void close() override {
        if (stream_) {
            if (ending_.problem.empty())
                ending_.problem = stream_->problem();
            if (ending_.requested)
                stream_->close_when_sent();
            else
                stream_->close();
        }
        stream_.reset();
        inner_.end();
        if (conversation_) {
            known_.last_zxid = std::max(known_.last_zxid, conversation_->last_zxid());
            if (!conversation_->accepted())
                known_.abilities.not_accepted();
        }
        conversation_.reset();
        incoming_.clear();
        outgoing_.clear();
        requests_.reset();
        sasl_.stop();
    }

    const server_abilities& abilities() const noexcept override { return known_.abilities; }

    bool unusable_settings() const noexcept override {
        return stream_ && stream_->unusable_settings();
    }

    sasl_failure authentication_failure() const noexcept override { return sasl_.failure; }

    bool received_too_much() const noexcept override { return ending_.too_long; }

    const std::string& problem() const noexcept override {
        return ending_.problem.empty() && stream_ ? stream_->problem() : ending_.problem;
    }

    byte_counts bytes() const noexcept override { return bytes_; }

    void leave_to_parent() noexcept override {
        if (stream_) {
            stream_->leave_to_parent();
            stream_->close();
        }
        inner_.close();
    }

    void abandon() noexcept override {
        ending_.requested = false;  // nothing can be sent any more
        close();
    }

private:
    /// Of a read: several frames of usual size, and what is read once these are many.
    static constexpr std::size_t usual = 2048;
    static constexpr std::size_t many = 32UL * 1024;

    /// What is read at most before the owner can do something else.
    static constexpr std::size_t read_per_delivery = 4 * many;

    /// A frame is about to be sent.
    void note(std::span<unsigned char> frame) {
        if (conversation_->awaited() == 0) {
            known_.abilities.responsive(std::chrono::steady_clock::now());
            requests_.largest = 0;
        }
        requests_.largest = std::max(requests_.largest, frame.size());
        conversation_->sent(frame);
    }

    void send(std::span<const unsigned char> data) {
        bytes_.sent += data.size();
        stream_->write(data);
    }

    /// Passes on whole frames together.
    void send_frames() {
        std::span<unsigned char> frames;
        for (auto frame = outgoing_.next(); !frame.empty(); frame = outgoing_.next()) {
            note(frame);
            frames =
                frames.empty() ? frame : std::span(frames.data(), frames.size() + frame.size());
        }
        if (!frames.empty())
            send(frames);
    }

    void receive() {
        std::size_t size = usual;
        std::size_t total = 0;
        while (stream_ && !inner_.unread() && !ending_.refused && stream_->input() &&
               total < read_per_delivery) {
            std::span<unsigned char> room = incoming_.room(size);
            std::size_t n = stream_->read(room);
            size = many;
            total += n;
            incoming_.filled(n);
            bytes_.received += n;
            if (n == 0)
                return explain_end();
            heard_at_ = std::chrono::steady_clock::now();
            known_.abilities.responsive(heard_at_);
            check();
        }
    }

    void explain_end() {
        if (!stream_->ended())
            return;
        // A server also hangs up on requests that are too large for it.
        constexpr std::size_t surely_small = 32UL * 1024;
        const operation_set unknown = known_.abilities.hung_up(conversation_->awaited_operations(),
                                                               std::chrono::steady_clock::now(),
                                                               requests_.largest > surely_small);
        if (unknown != 0)
            ending_.problem = stream_->problem() + ", again, at " + not_asked_again(unknown);
        else if (!conversation_->established() && !stream_->shaking_hands())
            ending_.problem = stream_->problem() +
                              " without a response (it may have no quorum, or " +
                              (streams_.options().tls ? "require a client certificate)"
                                                      : "this may be a port for TLS)");
    }

    static std::string not_asked_again(operation_set unknown) {
        return to_string(unknown) + ", which it is no longer sent (see server_dialect)";
    }

    /// Gives up the connection if the server turns out not to know an operation.
    bool understood(const reception& what) {
        if (!what.not_known) {
            known_.abilities.answered(what.asked);
            return true;
        }
        const bool useless = what.what == reception::kind::refused;
        const operation_set unknown = known_.abilities.refused(what.asked, useless);
        if (unknown != 0)
            distrust("it does not know " + not_asked_again(unknown));
        return unknown == 0;
    }

    void check() {
        while (!ending_.refused) {
            auto frame = incoming_.next();
            if (frame.empty())
                break;
            reception what = conversation_->received(frame);
            if (!understood(what))
                return;
            if (what.what == reception::kind::refused) {
                ending_.too_long = what.too_long;
                return distrust(
                    (what.given_up || what.too_long ? "" : "it sent what no server may send: ") +
                    what.problem);
            }
            if (authenticate(frame, what))
                continue;
            if (what.what == reception::kind::session) {
                inner_.write(frame);
                continue;
            }
            received_(what);
        }
        if (std::string problem = incoming_.problem(); !ending_.refused && !problem.empty()) {
            ending_.too_long = incoming_.too_long();
            distrust("it sent " + problem + "; the limit is " +
                     std::to_string(frame_splitter::longest_frame) + " bytes");
        }
    }

#if COROZK_HAS_SASL
    /// Between the connect response, which is held back, and everything else.
    /// @return whether the frame is not for the C client, or not yet
    bool authenticate(std::span<unsigned char> frame, const reception& what) {
        const auto& options = streams_.options().sasl;
        if (options && what.op == wire_op::create_session && !conversation_->expired()) {
            sasl_.session.assign(frame.begin(), frame.end());
            take_step([this, &options] {
                sasl_.exchange.emplace(
                    streams_.executor(), *options, sasl_.server, [this] { step_taken(); });
            });
            return true;
        }
        if (!sasl_.exchange || what.what != reception::kind::response)
            return false;
        if (what.error != 0) {
            fail_authentication(sasl_failure::denied, "the server refuses it");
        } else {
            take_step([this, &what] {
                sasl_.exchange->step(std::string(jute_reader(what.body).buffer()));
            });
        }
        return true;
    }

    template <class Function>
    void take_step(Function begin) {
        try {
            begin();
        } catch (const std::system_error& e) {
            distrust(std::string("no thread for SASL: ") + e.what());
        }
    }

    void step_taken() {
        using progress = sasl_authentication::progress;
        switch (sasl_.exchange->result()) {
            case progress::not_offered:
                fail_authentication(sasl_failure::not_offered, sasl_.exchange->problem());
                break;
            case progress::failed:
                fail_authentication(sasl_failure::own, sasl_.exchange->problem());
                break;
            case progress::send: {
                begin_request()
                    .int32(0)
                    .int32(static_cast<std::int32_t>(wire_op::sasl))
                    .buffer(sasl_.exchange->token());
                end_request();
                flush();
                break;
            }
            case progress::done: sasl_.exchange.reset(); inner_.write(sasl_.session);
        }
        ready_();
    }

    void fail_authentication(sasl_failure how, const std::string& why) {
        sasl_.failure = how;
        distrust("SASL: " + why);
    }
#else
    static bool authenticate(std::span<unsigned char>, const reception&) {
        return false;
    }
#endif

    /// The server sends what no server would: what was checked before is still delivered.
    void distrust(std::string problem) {
        ending_.problem = std::move(problem);
        ending_.refused = true;
        stream_->close();
    }

    /// The authentication of a connection, before the session is used.
    struct authentication {
        std::string server;
#if COROZK_HAS_SASL
        std::optional<sasl_authentication> exchange;
        bool busy() const noexcept {
            return exchange && exchange->busy();
        }
        void stop() noexcept {
            exchange.reset();
        }
#else
        static bool busy() noexcept {
            return false;
        }
        static void stop() noexcept {}
#endif
        std::vector<unsigned char> session;  ///< the connect response, held back meanwhile
        sasl_failure failure = sasl_failure::none;
    };

    struct requests {
        jute_writer unsent;
        std::size_t largest = 0;  ///< of those since there was none without a response

        void reset() noexcept {
            unsent.clear();
            unsent.release(usual);
            largest = 0;
        }
    };

    /// How the connection has ended, or will.
    struct ending {
        std::string problem;
        bool refused = false;          ///< a frame; none that follows is read
        bool too_long = false;         ///< that frame
        bool requested = false;        ///< of the session, by this side
        bool close_confirmed = false;  ///< the session has ended
    };

    /// From earlier connections.
    struct experience {
        server_abilities abilities;
        std::int64_t last_zxid = 0;  ///< of this session
    };

    callback ready_;
    reception_handler received_;
    stream_factory& streams_;
    std::shared_ptr<stream> stream_;  ///< to the server
    inner_socket inner_;              ///< to the C client
    std::optional<conversation> conversation_;
    frame_splitter incoming_;
    frame_splitter outgoing_{std::numeric_limits<std::int32_t>::max()};
    requests requests_;
    std::chrono::steady_clock::time_point heard_at_{};
    experience known_;
    byte_counts bytes_;
    ending ending_;
    authentication sasl_;
};

}  // namespace

std::unique_ptr<relay> relay::make(stream_factory& streams,
                                   callback ready,
                                   reception_handler received) {
    return std::make_unique<framed_relay>(streams, std::move(ready), std::move(received));
}

}  // namespace corozk::detail
