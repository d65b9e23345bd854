// SPDX-License-Identifier: Apache-2.0
// A session without a server: a test sees each request of a driver and gives its answer, step by step.
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"

#include <boost/asio/system_executor.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::testing {

class scripted_port final : public detail::port {
public:
    scripted_port() {
        status_.state = session_state::connected;
        status_.generation = 1;
        status_.session_id = 1;
        status_.negotiated_timeout = std::chrono::seconds(6);
    }
    ~scripted_port() {
        destroy_drivers();
        while (!operations_.empty()) {
            detail::operation& op = operations_.front();
            operations_.pop_front();
            op.detach();
            op.abandoned();
        }
    }

    /// What is asked next, such as "create /a"; empty if nothing is.
    std::string asked() const {
        if (operations_.empty())
            return {};
        const detail::operation& op = operations_.front();
        return std::string(to_string(op.code)) + " " + op.path;
    }

    /// How many requests have no answer yet.
    std::size_t unanswered() const noexcept { return operations_.size(); }

    /// The request itself, for what `asked` does not say, and to fill in an answer.
    detail::operation& front() {
        if (operations_.empty())
            throw std::logic_error("nothing is asked");
        return operations_.front();
    }

    /// Answers what is asked next, and lets run what that starts.
    void answer(error_code ec = {}) {
        detail::operation& op = front();
        operations_.pop_front();
        op.state = detail::operation::progress::done;
        op.error = ec;
        op.finished();
        run_deferred();
    }

    void set_state(session_state state, std::uint64_t generation) {
        status_.state = state;
        status_.generation = generation;
        ++status_.revision;
        for (auto at = observers_.begin(); at != observers_.end();)
            (at++)->session_changed(status_);
        run_deferred();
    }

    /// Moves the clock; timers that are due run in their order, after what was deferred before.
    void advance(detail::steady_clock::duration by) {
        run_deferred();
        now_ += by;
        while (!timers_.empty() && timers_.begin()->when <= now_) {
            detail::timer_node& timer = *timers_.begin();
            timers_.erase(timers_.begin());
            timer.expired();
            run_deferred();
        }
    }

    /// Moves the clock of a process that is suspended: what is due runs with the next `advance`.
    void suspend(detail::steady_clock::duration by) noexcept { now_ += by; }

    void start(detail::operation& op) noexcept override {
        op.state = detail::operation::progress::queued;
        op.sent_at = now_;
        operations_.push_back(op);
    }
    bool withdraw(detail::operation& op) noexcept override {
        op.unlink();
        return true;
    }
    void defer(detail::deferred& d) noexcept override {
        d.unlink();
        deferred_.push_back(d);
    }
    void complete(detail::completion handler) override {
        completions_.push_back(std::move(handler));
    }
    void start_timer(detail::timer_node& timer, detail::time_point when) noexcept override {
        timer.cancel();
        timer.when = when;
        timers_.insert(timer);
    }
    detail::time_point now() const noexcept override { return now_; }
    const session_status& status() const noexcept override { return status_; }
    std::shared_ptr<void> keep_alive() noexcept override { return {}; }
    detail::time_point expiry_deadline() const noexcept override {
        return now_ + status_.negotiated_timeout;
    }
    void subscribe(detail::session_observer& observer) noexcept override {
        observers_.push_back(observer);
    }
    std::string new_guid() override {
        std::string digits = std::to_string(++guids_);
        return guid_start + std::string(32 - guid_start.size() - digits.size(), '0') + digits;
    }
    client_counters& counters() noexcept override { return counters_; }
    std::size_t max_request_size() const noexcept override { return 1024 * 1024; }
    boost::asio::any_io_executor executor() const override {
        return boost::asio::system_executor();
    }
    bool logs(log_level) const noexcept override { return true; }
    void log(log_level, std::string_view text) noexcept override { logged.emplace_back(text); }

    std::deque<std::string> logged;

    /// Random numbers derive from it.
    std::string guid_start;

    /// Called before each deferred function, if there is one.
    std::function<void()> between;

private:
    void run_deferred() {
        while (!deferred_.empty() || !completions_.empty()) {
            if (!deferred_.empty()) {
                detail::deferred& next = deferred_.front();
                deferred_.pop_front();
                if (between)
                    between();
                next.run();
                continue;
            }
            detail::completion next = std::move(completions_.front());
            completions_.pop_front();
            next.release()->call(detail::for_handlers(executor()));
        }
    }

    template <class Node>
    using list = boost::intrusive::list<Node, boost::intrusive::constant_time_size<false>>;

    session_status status_;
    client_counters counters_;
    detail::time_point now_{};
    list<detail::operation> operations_;
    list<detail::deferred> deferred_;
    list<detail::session_observer> observers_;
    boost::intrusive::multiset<detail::timer_node, boost::intrusive::constant_time_size<false>>
        timers_;
    std::deque<detail::completion> completions_;
    int guids_ = 0;
};

}  // namespace corozk::testing
