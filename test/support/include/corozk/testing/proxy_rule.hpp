// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace corozk::testing {

/** @brief Until the test says otherwise. */
inline constexpr std::chrono::milliseconds until_told = std::chrono::milliseconds::max();

/**
 * @brief Which frame a rule of a fault_proxy waits for.
 *
 * Made by at_request(), at_op(), at_connect(), at_notification(), at_frame(). A rule fires once,
 * unless times() says otherwise.
 */
class trigger {
public:
    using predicate = std::function<bool(const frame_info&)>;

    /** Waits for the k-th frame of this kind for which the predicate (null: always) holds. */
    trigger(frame_kind kind, predicate matches, std::uint64_t k)
        : kind_{kind}, matches_{std::move(matches)}, occurrence_{k} {}

    /** @brief Fire this often: at the frame waited for and at the next matching ones. 0: always. */
    trigger times(std::uint64_t count) &&;

    /**
     * @brief Count only frames for which the predicate holds, too.
     *
     * It runs on the proxy's thread and must not use the proxy.
     */
    trigger where(predicate also) &&;

    /** @brief Count only frames whose path begins like this. */
    trigger under(std::string path_prefix) &&;

    frame_kind kind() const noexcept { return kind_; }
    bool matches(const frame_info& frame) const;
    std::uint64_t occurrence() const noexcept { return occurrence_; }
    std::uint64_t limit() const noexcept { return limit_; }

private:
    frame_kind kind_;
    predicate matches_;
    std::uint64_t occurrence_;
    std::uint64_t limit_ = 1;
};

/**
 * @brief The request frame with this number over the proxy's life, from 1.
 *
 * Connect requests have no number, and neither do pings unless the proxy's options say so.
 */
trigger at_request(std::uint64_t number);

/** @brief The k-th request with this operation, from 1, counted from when the rule is armed. */
trigger at_op(op_code op, std::uint64_t k = 1);

/** @brief The k-th connect request, counted from when the rule is armed. */
trigger at_connect(std::uint64_t k = 1);

/**
 * @brief The k-th notification (event of a watch), counted from when the rule is armed.
 *
 * The actions that speak of a reply apply to the notification itself; those that speak of a
 * request make no sense here and are refused.
 */
trigger at_notification(std::uint64_t k = 1);

/** @brief The k-th request for which the predicate (on the proxy's thread) holds. */
trigger at_frame(trigger::predicate matches, std::uint64_t k = 1);

/**
 * @brief What a rule of a fault_proxy does with the frame it waited for.
 *
 * Made by the functions below. All cuts leave the same, reproducible picture: requests before the
 * one concerned have been answered and their answers delivered; requests behind it (a client may
 * send several at once) are not delivered.
 */
class action {
public:
    enum class kind : std::uint8_t {
        drop_request_and_cut,
        reject_and_cut,
        swallow_reply_and_cut,
        cut_after_reply,
        delay_request,
        delay_reply,
        hold_request,
        hold_reply,
        black_hole,
        call_at_request,
        call_at_reply,
    };
    using callback = std::function<void(const frame_info&)>;

    explicit action(kind what) : what_{what} {}
    action(kind what, std::chrono::milliseconds duration) : what_{what}, duration_{duration} {}
    action(kind what, callback call) : what_{what}, call_{std::move(call)} {}
    action(kind what, std::int32_t error) : what_{what}, error_{error} {}

    /**
     * @brief For the cuts: refuse new connections for this long, or until_told.
     *
     * Begins before the client can see the cut.
     */
    action then_refuse(std::chrono::milliseconds duration = until_told) &&;

    /** @brief For the cuts: do not wait for the answers of earlier requests. */
    action at_once() &&;

    kind what() const noexcept { return what_; }
    std::chrono::milliseconds duration() const noexcept { return duration_; }
    std::chrono::milliseconds refusal() const noexcept { return refusal_; }
    bool settles() const noexcept { return settles_; }
    const callback& call() const noexcept { return call_; }
    std::int32_t error() const noexcept { return error_; }

    /** @brief True if the action can be applied to a notification. */
    bool suits_notifications() const noexcept;

private:
    kind what_;
    std::chrono::milliseconds duration_{};
    std::chrono::milliseconds refusal_{};
    bool settles_ = true;
    callback call_;
    std::int32_t error_ = 0;
};

/** @brief The request is not delivered, and the connection is cut. */
action drop_request_and_cut();

/**
 * @brief The request is not delivered but answered with this error, before earlier ones are answered, and the
 * connection is cut: as ZooKeeper answers to what it does not know.
 */
action reject_and_cut(std::int32_t error);

/**
 * @brief The request is delivered. When the server has answered it, the answer is thrown away and
 * the connection is cut: "applied, but the client does not know".
 */
action swallow_reply_and_cut();

/** @brief The connection is cut right behind the delivered answer. */
action cut_after_reply();

/** @brief The request (and all that is behind it on its connection) arrives later. */
action delay_request(std::chrono::milliseconds duration);

/**
 * @brief The answer (and all that is behind it on its connection) arrives later.
 *
 * Of several, each takes so long after the one before, as on a slow line.
 */
action delay_reply(std::chrono::milliseconds duration);

/** @brief The request (and all behind it) waits for fault_proxy::release(). */
action hold_request();

/** @brief The answer (and all behind it, pings included) waits for fault_proxy::release(). */
action hold_reply();

/**
 * @brief The proxy becomes a black hole (see fault_proxy::black_hole()) just before this request,
 * for this long.
 */
action black_hole_from_here(std::chrono::milliseconds duration = until_told);

/**
 * @brief Calls the function before the request is sent on, which waits for it.
 *
 * For what must happen between two frames: kill the server, plant a node, expire the session. Runs
 * on the proxy's thread and so stops all traffic; it may use the proxy, but not wait for it.
 */
action call_at_request(action::callback call);

/** @brief Calls the function when the server has answered and before the client knows. */
action call_at_reply(action::callback call);

}  // namespace corozk::testing
