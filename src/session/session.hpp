// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"
#include "c_client/socket_monitor.hpp"
#include "driver/port.hpp"
#include "driver/user_call.hpp"
#include "session/closing_steps.hpp"
#include "session/connector.hpp"
#include "session/expiry_clock.hpp"
#include "session/name_lookup.hpp"
#include "session/quorum_question.hpp"
#include "session/watch_registry.hpp"
#include <corozk/options.hpp>
#include <corozk/time_limit.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/set.hpp>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace corozk::detail {

/// The session core: one C client handle at a time, driven by handlers on the executor.
///
/// All work happens in `turn`: read from the C client, hand out what arrived, run what was
/// deferred, send what was queued, and see what to wait for. A turn is bounded, so that other
/// coroutines get theirs. While the session is open, pending waits and timers keep it alive.
class session final : public port, public std::enable_shared_from_this<session> {
public:
    static std::shared_ptr<session> make(boost::asio::any_io_executor executor,
                                         client_options options);
    ~session();

    // What the client does.
    void connect(user_call<> call);
    void close(user_call<> call);
    void next_state(const session_status& seen, user_call<session_status> call);
    void add_auth(auth_info auth);
    client_counters snapshot() const;
    const client_options& options() const noexcept { return options_; }

    /// The status for a user's eyes, who may come before the first turn after the whole process
    /// stood still: a session that is past its deadline is lost, not connected.
    const session_status& look();

    /// The client object was destroyed: close without waiting.
    void release() noexcept;

    /// The execution context is being destroyed: forget all handlers and drivers without calling
    /// any.
    void abandon() noexcept;

    /// A waiter went: take the watch from the server too, if nobody else waits.
    void watch_dropped(watch_kind kind, const std::string& path) noexcept override;

    // port
    void start(operation& op) noexcept override;
    bool withdraw(operation& op) noexcept override;
    void defer(deferred& d) noexcept override;
    void complete(completion handler) override;
    void start_timer(timer_node& timer, time_point when) noexcept override;
    time_point now() const noexcept override { return steady_clock::now(); }
    const session_status& status() const noexcept override { return status_; }
    time_point expiry_deadline() const noexcept override { return clock_.deadline(); }
    std::shared_ptr<void> keep_alive() noexcept override { return weak_from_this().lock(); }
    void subscribe(session_observer& observer) noexcept override;
    std::string new_guid() override;
    client_counters& counters() noexcept override { return counters_; }
    std::size_t max_request_size() const noexcept override { return options_.max_request_size; }
    boost::asio::any_io_executor executor() const override { return executor_; }
    bool logs(log_level level) const noexcept override;
    void log(log_level level, std::string_view text) noexcept override;

private:
    using operation_list =
        boost::intrusive::list<operation, boost::intrusive::constant_time_size<false>>;

    session(boost::asio::any_io_executor executor, client_options options);

    // One turn of the loop.
    void wake() noexcept;
    void turn();
    void read_packets();
    void dispatch_arrivals();
    void do_chores();
    void dispatch_answer(operation& op);
    void dispatch_session_event(handle_state state);
    void dispatch_watch_event(watch_event_type type, const std::string& path);
    void run_deferred();
    void run_completions();
    void send_queued();
    void wait_for_more();
    time_point queue_deadline(const operation& op) const noexcept;
    void arm_timer();
    void on_timer();

    // Connecting.
    error_code unusable_options();
    void advance();
    void look_up(std::size_t host);
    void attempt(const connector::endpoint& server);
    void stop_connecting() noexcept;
    void reconnect();
    void established(bool read_only);
    void verify_chroot();
    void session_ready(bool read_only);
    void ask_for_quorum();
    void stop_looking() noexcept;
    void notice_silence();
    void give_up_connecting(error_code reason);
    void connect_failed(error_code reason);
    void connection_down();
    void authentication_failed();
    void authentication_demanded();
    void refused_for_good(error_code reason, std::string_view why);

    // Ending.
    void session_over();
    void session_lost(error_code reason);
    void fail_for_good(error_code reason);
    void begin_closing();
    void go_on_closing();
    void say_goodbye();
    bool send_close_packet();
    void part();
    void finish_closing();
    void complete_close_calls();
    void retire_handle();
    void reap(std::unique_ptr<handle> last);
    void fail_queued(error_code reason);

    void set_state(session_state state, error_code reason = {});
    void refuse(operation& op, error_code reason) noexcept;
    void heartbeat();
    bool trim_watches();
    void read_ended(const std::string& path);
    void retry_drop();
    void rearm(const watch_registry::surplus& watch);
    bool submit_at_once(operation& op);
    void apply_auth(const auth_info& auth);
    bool past_deadline() noexcept;
    void heed_fork();
    bool over() const noexcept;
    bool connection_made() const noexcept;
    bool follow_socket();
    bool can_send() const noexcept;
    bool sends_left() const noexcept { return !outbox_.empty() && can_send(); }
    bool arrivals_left() const noexcept { return !inbox_.empty() || next_arrival_ < batch_.size(); }
    bool chores_left() const noexcept;

    boost::asio::any_io_executor executor_;
    client_options options_;
    session_status status_;
    std::mt19937_64 random_;
    connector connector_;
    closing_steps closing_;

    std::vector<arrival> inbox_;
    std::vector<arrival> batch_;
    std::size_t next_arrival_ = 0;  ///< in the batch
    std::unique_ptr<handle> handle_;
    socket_monitor monitor_;
    watch_registry watches_;
    expiry_clock clock_;
    bool keeps_session_ = true;  ///< whoever answers: one without a quorum keeps no other's alive
    std::unordered_map<std::string, std::size_t> arming_;  ///< reads with a watch on their way

    /// Watches that nobody waits for and that cannot be taken from the server yet.
    std::map<std::string, std::set<watch_kind>> late_drops_;
    std::map<std::string, std::set<watch_kind>> drops_to_retry_;

    /// Requests on their way that take a watch from the server; of children, or else of data.
    std::set<std::pair<bool, std::string>> dropping_;
    std::size_t rearming_ = 0;  ///< reads on their way that set a surplus watch again

    operation_list outbox_;
    operation_list sent_;
    operation_list refused_;
    std::size_t in_flight_ = 0;
    boost::intrusive::list<deferred, boost::intrusive::constant_time_size<false>> deferred_;
    boost::intrusive::multiset<timer_node, boost::intrusive::constant_time_size<false>> timers_;
    boost::intrusive::list<session_observer, boost::intrusive::constant_time_size<false>>
        observers_;

    std::list<completion> completions_;
    std::size_t completed_ = 0;  ///< since small pieces of memory were joined

    bool in_turn_ = false;
    bool wake_posted_ = false;
    bool turn_wanted_ = false;  ///< not done yet by the turn that was under way
    bool readable_ = false;
    bool followed_ = false;  ///< the monitor has the socket of this connection
    bool writable_ = false;
    bool abandoned_ = false;
    unsigned process_;  ///< whose connection this is, by `forks()`

    // Reset when the execution context goes: watches and clients may outlive it.
    std::optional<boost::asio::steady_timer> timer_;
    time_point timer_due_ = time_point::max();
    std::uint64_t timer_epoch_ = 0;

    std::vector<std::unique_ptr<name_lookup>> lookups_;        ///< under way, by host
    std::vector<std::shared_ptr<quorum_question>> questions_;  ///< under way, while read-only
    bool fresh_handle_ = true;  ///< its session has not been established yet
    time_point last_sent_{};

    std::vector<std::shared_ptr<user_call<>>> connect_calls_;
    std::vector<std::shared_ptr<user_call<>>> close_calls_;
    struct state_call {
        session_status seen;
        std::shared_ptr<user_call<session_status>> call;
    };
    std::vector<state_call> state_calls_;

    class internal_operation;
    std::unique_ptr<internal_operation> heartbeat_;
    std::unique_ptr<internal_operation> verification_;

    client_counters counters_;
    time_point arrived_at_{};  ///< the answers of this turn
};

}  // namespace corozk::detail
