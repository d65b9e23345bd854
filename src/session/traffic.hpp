// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include "session/arrival.hpp"
#include "session/send_window.hpp"
#include <corozk/time_limit.hpp>

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace corozk::detail {

/// The requests of a session, from `start` until their responses are dispatched, and everything
/// received. Does no I/O.
class traffic {
public:
    /// How long a response may take before the server is sent another request.
    static constexpr std::chrono::seconds overdue_after{1};

    // Requests.
    void queue(operation& op) noexcept { queued_.push_back(op); }

    bool can_send() const noexcept {
        return in_flight_ < window_.size() && !queued_.empty() && resumes_at_ == time_point::max();
    }

    /// The server has too much to do: what is sent again then waits, and all behind it.
    void pause_until(time_point time) noexcept { resumes_at_ = time; }
    void resume(time_point now) noexcept {
        if (now >= resumes_at_)
            resumes_at_ = time_point::max();
    }
    time_point resumes_at() const noexcept { return resumes_at_; }

    operation& take_queued() noexcept { return pop(queued_); }

    void mark_sent(operation& op) noexcept {
        sent_.push_back(op);
        ++in_flight_;
        heartbeats_ += op.heartbeat;
        last_sent_ = op.sent_at;
        if (needs_leader(op.code))
            leader_asked_ = op.sent_at;
    }

    /// Resets the times at which something was sent last.
    void connected(time_point now) noexcept { last_sent_ = leader_asked_ = now; }

    /// The response is being dispatched.
    void mark_answered(operation& op) noexcept {
        op.unlink();
        if (op.state != operation::progress::sent)
            return;
        --in_flight_;
        heartbeats_ -= op.heartbeat;
    }

    void refuse(operation& op, const error_code& reason) noexcept {
        op.error = reason;
        refused_.push_back(op);
        arriving_.emplace_back(op);
    }

    /// @param kept  those that are to be sent nevertheless
    template <class Kept>
    void refuse_queued(const error_code& reason, Kept kept) noexcept {
        for (auto at = queued_.begin(); at != queued_.end();) {
            operation& op = *at++;
            if (kept(op))
                continue;
            op.unlink();
            refuse(op, reason);
        }
    }

    void refuse_queued(const error_code& reason) noexcept {
        refuse_queued(reason, [](const operation&) { return false; });
    }

    /// Fails operations that have waited too long for a connection.
    void refuse_late(const time_limit& patience, time_point now) noexcept {
        while (deadline(patience) <= now)
            refuse(pop(queued_), errc::not_connected);
    }
    time_point deadline(const time_limit& patience) const noexcept {
        if (queued_.empty())
            return time_point::max();
        return patience.from(std::max(queued_.front().queued_at, disconnected_at_));
    }

    /// Those that could not be sent before wait from now on.
    void disconnected(time_point now) noexcept { disconnected_at_ = now; }

    /// Detaches all operations, which never finish.
    void abandon() noexcept {
        arriving_.clear();
        batch_.clear();
        next_ = 0;
        for (list* l : {&queued_, &sent_, &refused_}) {
            while (!l->empty()) {
                operation& op = pop(*l);
                op.detach();
                op.abandoned();
            }
        }
    }

    /// When the oldest request without a response was sent.
    time_point unanswered_since() const noexcept {
        return sent_.empty() ? time_point::max() : sent_.front().sent_at;
    }

    /// Since when the server owes nothing before the response to a request for which it needs its
    /// leader; the maximum if that is not so. While others come before, the leader is not to blame.
    time_point leader_awaited_since() const noexcept {
        // Credentials have an order of their own: what the server does with them delays nothing else.
        const auto first = std::find_if(sent_.begin(), sent_.end(), [](const operation& op) {
            return op.code != op_code::add_auth;
        });
        if (first == sent_.end() || !needs_leader(first->code) || has_arrivals())
            return time_point::max();
        return std::max(first->sent_at, arrived_at_);
    }

    /// When another request is due: so that no more than `silence` passes between two that need the
    /// leader, and sooner if there is no response, since servers 3.6.0 to 3.8.0 may keep one back until
    /// another request arrives (ZOOKEEPER-4537). More and more seldom, as the server may have too much
    /// to do.
    time_point heartbeat_due(steady_clock::duration silence) const noexcept {
        const time_point due = leader_asked_ + silence;
        if (in_flight_ == 0)
            return due;
        const steady_clock::duration asked_for = last_sent_ - unanswered_since();
        return std::min(due,
                        last_sent_ + std::max<steady_clock::duration>(overdue_after, asked_for));
    }

    std::size_t queued() const noexcept { return queued_.size(); }
    std::size_t in_flight() const noexcept { return in_flight_; }

    /// Those in flight whose responses somebody waits for.
    std::size_t awaited() const noexcept { return in_flight_ - heartbeats_; }
    send_window& window() noexcept { return window_; }

    // Arrivals.
    /// Filled by the link.
    std::vector<arrival>& arriving() noexcept { return arriving_; }

    bool has_arrivals() const noexcept { return !arriving_.empty() || next_ < batch_.size(); }

    /// Starts a batch with everything that has arrived, unless the last one is not finished.
    void begin_dispatch(time_point now) {
        if (next_ < batch_.size())
            return;
        batch_.clear();
        batch_.swap(arriving_);
        next_ = 0;
        if (!batch_.empty())
            arrived_at_ = now;
    }
    arrival* next_arrival() noexcept { return next_ < batch_.size() ? &batch_[next_++] : nullptr; }
    time_point arrived_at() const noexcept { return arrived_at_; }

    /// Session events of a handle must not be applied to the session of the next one.
    void drop_session_events() {
        auto is_one = [](const arrival& a) { return a.kind == arrival::kind_type::session_event; };
        auto ahead = batch_.begin() + static_cast<std::ptrdiff_t>(next_);
        batch_.erase(std::remove_if(ahead, batch_.end(), is_one), batch_.end());
        std::erase_if(arriving_, is_one);
    }

private:
    using list = boost::intrusive::list<operation, boost::intrusive::constant_time_size<false>>;

    static operation& pop(list& l) noexcept {
        operation& op = l.front();
        l.pop_front();
        return op;
    }

    list queued_;
    list sent_;
    list refused_;
    std::size_t in_flight_ = 0;
    std::size_t heartbeats_ = 0;  ///< of these
    send_window window_;
    time_point last_sent_{};
    time_point leader_asked_{};  ///< when the last request was sent for which the leader is needed
    time_point resumes_at_ = time_point::max();
    time_point disconnected_at_ = time_point::min();
    std::vector<arrival> arriving_;
    std::vector<arrival> batch_;  ///< being dispatched
    std::size_t next_ = 0;        ///< of the batch
    time_point arrived_at_{};     ///< the batch
};

}  // namespace corozk::detail
