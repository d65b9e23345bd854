// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/user_call.hpp"
#include "network/name_lookup.hpp"
#include "network/quorum_question.hpp"
#include "session/agenda.hpp"
#include "session/closing_steps.hpp"
#include "session/connector.hpp"
#include "session/ensemble_follower.hpp"
#include "session/expiry_clock.hpp"
#include "session/identity.hpp"
#include "session/link.hpp"
#include "session/persistent_watches.hpp"
#include "session/session_timers.hpp"
#include "session/session_view.hpp"
#include "session/status_board.hpp"
#include "session/subtree.hpp"
#include "session/traffic.hpp"
#include <corozk/options.hpp>
#include <corozk/time_limit.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A session: one C client at a time, driven by handlers on the executor.
///
/// All work is done in `turn`, an iteration of the loop: read from the server, dispatch responses
/// and events, run deferred functions, send queued requests, and determine what to wait for. It is
/// bounded, so that other coroutines can run. Decisions are made by state machines without I/O
/// (`connector`, `closing_steps`, `persistent_watches`, `traffic`, `agenda`) and carried out here.
/// While the session is open, pending waits and timers keep it alive.
class session final : public session_view, public std::enable_shared_from_this<session> {
public:
    /// A session that has not begun, as its client sees it: below the path in the host list.
    static std::shared_ptr<session_view> make(boost::asio::any_io_executor executor,
                                              client_options options);
    ~session();

    // Operations of the client.
    void connect(user_call<> call);
    /// @param leaving the session is left at the server
    void close(user_call<> call, bool leaving);
    void next_status(const session_status& seen, user_call<session_status> call);
    void add_auth(auth_info auth);

    /// Replaces the host list. @return an error, and nothing has changed, if it cannot be used
    error_code set_hosts(const std::string& hosts);
    client_counters snapshot() const;
    const session_credentials& credentials() const noexcept { return identity_.credentials(); }
    const client_options& options() const noexcept { return options_; }

    /// The status for users, which may be read before the first turn after the process was
    /// suspended: a session past its deadline is lost.
    const session_status& look();
    void release() noexcept override;

    /// A view whose root is this node. Lives as long as the session.
    std::shared_ptr<session_view> below(const std::string& path);

    /// In the child of a fork, the connection is left to the parent.
    void heed_fork();

    /// The execution context is being destroyed: drop all handlers and drivers without calling any.
    void abandon() noexcept;

    /// A watch has lost a waiter: removes it from the server if that was the last one.
    void watch_dropped(watch_kind kind, const std::string& path) noexcept override;

    // port
    void start(operation& op) noexcept override;
    bool withdraw(operation& op) noexcept override;
    void defer(deferred& d) noexcept override;
    void complete(completion handler) override;
    void start_timer(timer_node& timer, time_point when) noexcept override;
    time_point now() const noexcept override { return steady_clock::now(); }
    const session_status& status() const noexcept override { return board_.status(); }
    time_point expiry_deadline() const noexcept override { return clock_.deadline(); }
    std::shared_ptr<void> keep_alive() noexcept override { return weak_from_this().lock(); }
    void subscribe(session_observer& observer) noexcept override { board_.subscribe(observer); }
    std::string new_guid() override;
    client_counters& counters() noexcept override { return counters_; }
    std::size_t max_request_size() const noexcept override { return options_.max_request_size; }
    boost::asio::any_io_executor executor() const override { return executor_; }
    bool logs(log_level level) const noexcept override;
    void log(log_level level, std::string_view text) noexcept override;

private:
    session(boost::asio::any_io_executor executor, client_options options);

    // One iteration of the loop.
    void wake() noexcept;
    void turn();
    void dispatch_arrivals();
    void do_chores();
    void dispatch_answer(operation& op);
    void dispatch_session_event(handle_state state);
    void run_deferred();
    void run_handlers();
    void send_queued();
    void send_requests();
    bool send(operation& op, time_point at);
    void wait_for_more();
    void arm_timer();
    void on_timer();
    time_limit queue_patience() const noexcept;
    bool can_send() const noexcept;
    bool can_send_to_server() const noexcept;
    bool chores_left() const noexcept;

    // Connecting.
    error_code unusable_options();
    void advance();
    void look_up(std::size_t host);
    void attempt(const connector::endpoint& server);
    void stop_connecting() noexcept;
    void reconnect();
    void established();
    void verify_chroot();
    void chroot_checked(error_code ec);
    void check_chroot_again();
    void ready();
    void follow_ensemble();
    void ask_servers();
    void leave_server();
    void note_answers();
    void stop_looking() noexcept;
    void go_on_connecting(error_code reason);
    void give_up_connecting(error_code reason);
    void connect_failed(error_code reason);
    void connection_down();
    void refused_for_good(error_code reason);
    void submit_at_once(operation& op);
    std::chrono::milliseconds check_interval() const noexcept;
    time_point silence_deadline() const noexcept;
    time_point leader_deadline() const noexcept;
    void give_up_useless_server();
    time_point heartbeat_due() const noexcept;
    void heartbeat();
    bool connection_made() const noexcept;
    bool past_deadline() const noexcept;

    // Ending.
    void session_over();
    void session_lost(error_code reason);
    void fail_for_good(error_code reason);
    bool over() const noexcept;
    bool still_connected() const noexcept;
    bool still_sends(const operation& op) const noexcept;
    void begin_closing(bool leaving = false);
    void go_on_closing();
    void finish_closing();
    void complete_close_calls();
    void retire_client();

    static std::mt19937_64 seeded();
    void set_state(session_state state, error_code reason = {});
    void report_unused_files();
    void explain_delay();
    void refuse(operation& op, error_code reason) noexcept;
    void read_ended(const std::string& path);
    bool set_watches();
    void set_watches(watch_batch batch);
    void restore(const std::string& path, watch_mode mode);
    void remove_persistent_watches();
    void remove_persistent(const std::string& path);

    boost::asio::any_io_executor executor_;
    boost::asio::any_completion_executor handlers_executor_;  ///< allocated once, not per handler
    client_options options_;
    session_identity identity_;
    std::mt19937_64 random_;
    status_board board_;
    connector connector_;
    closing_steps closing_;
    traffic traffic_;
    link link_;
    persistent_watches watches_;
    expiry_clock clock_;
    agenda agenda_;
    session_timers timers_;
    client_counters counters_;

    struct connecting_call {
        std::shared_ptr<user_call<>> call;
        time_point deadline;
    };
    struct closing_call {
        std::shared_ptr<pending_call<>> call;
        bool leaving = false;
    };
    struct user_calls {
        std::vector<connecting_call> connecting;  ///< in the order of their deadlines
        std::vector<closing_call> closing;
    } calls_;

    struct view_set {
        bool ownerless = false;          ///< the client was destroyed: they do not connect again
        std::unique_ptr<subtree> front;  ///< of the client that has made it, below a path
        std::map<std::string, std::unique_ptr<subtree>, std::less<>> others;
    } views_;

    /// In progress besides the connection.
    struct inquiries {
        std::vector<std::unique_ptr<name_lookup>> names;  ///< by host
        std::vector<std::unique_ptr<quorum_question>> quorum;
        std::unique_ptr<ensemble_follower> ensemble;  ///< if the options say so
    } inquiries_;
};

}  // namespace corozk::detail
