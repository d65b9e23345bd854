// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/fault_proxy.hpp"
#include "frame_stream.hpp"
#include "journal.hpp"
#include "rule_book.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace corozk::testing::detail {

/** What all links of a proxy share. Touched on the proxy's thread only, but for the journal. */
struct proxy_state {
    proxy_state(fault_proxy_options chosen, std::uint16_t port)
        : options{chosen}, server_port{port}, log{chosen.log_capacity} {}

    bool& hole(direction way) { return holes[static_cast<std::size_t>(way)]; }
    std::chrono::milliseconds& delay(direction way) {
        return delays[static_cast<std::size_t>(way)];
    }
    frame_editor& editor(direction way) { return editors[static_cast<std::size_t>(way)]; }

    const fault_proxy_options options;
    std::uint16_t server_port;
    journal log;
    rule_book rules;
    std::array<bool, 2> holes{};
    std::array<std::chrono::milliseconds, 2> delays{};
    std::array<frame_editor, 2> editors;
    std::uint64_t last_number = 0;
    std::function<void(std::chrono::milliseconds)> begin_black_hole;
    std::function<void(std::chrono::milliseconds)> begin_refusal;
};

/**
 * One connection through a proxy: the client's socket and the server's.
 *
 * Each direction is a line of stations: bytes are read and cut into frames (`inbox`), the gate lets
 * a frame pass or not (black hole, held), passing decides what becomes of it, and what is to be
 * sent waits in the `outbox` for its time and for the socket.
 */
class link : public std::enable_shared_from_this<link> {
public:
    using closed_handler = std::function<void(std::uint64_t id)>;

    link(proxy_state& state,
         boost::asio::ip::tcp::socket client,
         std::uint64_t id,
         closed_handler on_closed);

    void start();

    /** Cuts the connection now; the server's side is closed, the client's as the options say. */
    void cut();

    /** A gate may have opened. */
    void wake();

    /** A black hole has ended. */
    void heal();

    /** Lets go of what the rule holds or will hold; all rules if there is none given. */
    void release(std::optional<rule_id> rule);

    std::int64_t session_id() const noexcept { return session_id_; }

private:
    using tcp = boost::asio::ip::tcp;
    using clock = std::chrono::steady_clock;

    /** A frame that has arrived. */
    struct arrived {
        std::string bytes;
        std::optional<frame_info> decided;  // it has been seen by the rules: only pass it on
    };

    /** Something to be done at the end of the line. */
    struct departing {
        std::string bytes;
        clock::time_point due;
        bool then_cut = false;
        bool then_finish = false;  // tell the sink that nothing more comes
        std::chrono::milliseconds refusal{};
    };

    /** One direction. */
    struct half {
        explicit half(const boost::asio::any_io_executor& executor) : timer{executor} {}

        /** For the next read. */
        boost::asio::mutable_buffer room() {
            const auto free = stream.room(16'384);
            return {free.data(), free.size()};
        }

        frame_stream stream;
        std::deque<arrived> inbox;
        std::deque<departing> outbox;
        std::size_t queued = 0;          // bytes in both
        clock::time_point busy_until{};  // with single frames that are delayed
        boost::asio::steady_timer timer;
        std::optional<rule_id> held_by;
        bool pumping = false;
        bool first_seen = false;
        bool reading = false;
        bool writing = false;
        bool ended = false;     // the source has closed
        bool broken = false;    // ... with an error
        bool finished = false;  // ... and the sink knows
    };

    /** A request without an answer yet. */
    struct outstanding {
        frame_info frame;
        std::optional<fired_rule> rule;
    };

    half& line(direction way) { return halves_[static_cast<std::size_t>(way)]; }
    tcp::socket& source(direction way) { return way == direction::to_server ? client_ : server_; }
    tcp::socket& sink(direction way) { return way == direction::to_server ? server_ : client_; }

    void connect();
    void read(direction way);
    void on_read(direction way, const boost::system::error_code& error, std::size_t count);
    void on_end(direction way, bool broken);
    void pump(direction way);
    bool may_pass(direction way);
    void write(direction way);
    void on_written(direction way, const boost::system::error_code& error);
    void depart(direction way);

    void pass(direction way, arrived frame);
    void pass_request(arrived frame);
    void pass_reply(arrived frame);
    frame_info classify(direction way, const std::string& bytes);
    std::optional<fired_rule> decide_reply(frame_info& info);
    void forward(direction way,
                 const frame_info& info,
                 std::string bytes,
                 std::chrono::milliseconds extra = {});
    void hold(direction way, arrived frame, const frame_info& info, rule_id rule);
    void cut_behind_answers(const action& how);
    void settle(bool force = false);
    void unhold(half& one);
    void close_client();
    void drain_client();

    proxy_state& state_;
    tcp::socket client_;
    tcp::socket server_;
    const std::uint64_t id_;
    closed_handler on_closed_;
    std::array<half, 2> halves_;
    boost::asio::steady_timer limit_;  // for settling, later for the client to close
    std::deque<outstanding> unanswered_;
    std::int64_t session_id_ = 0;
    bool connecting_ = false;
    bool connected_ = false;
    bool no_more_requests_ = false;  // a cut is decided
    std::optional<action> cut_when_all_answered_;
    bool closed_ = false;
};

}  // namespace corozk::testing::detail
