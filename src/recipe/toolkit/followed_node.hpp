// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/toolkit/node_view.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/time_limit.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

/// Follows a node across changes, absence, reconnects and sessions. What it shows never goes back.
class followed_node {
public:
    using state = node_view;

    followed_node(port& p, std::string path);

    /// Updates `view`, unless a watch shows that it is up to date. `wake` is set when it has to be
    /// called again.
    /// @return a permanent error
    task<error_code> look();

    /// Removes the watches from the server.
    void forget();

    const node_view& view() const noexcept { return view_; }

    signal wake;

private:
    port& port_;
    const std::string path_;
    watch_signal data_watch_;
    watch_signal missing_watch_;
    node_view view_;
};

/// What users follow, with one call at a time, and the state last reported to them. The member
/// `reports` of an object.
template <class Source, class Value>
class change_reports {
public:
    using state = typename Source::state;

    template <class... Arguments>
    change_reports(port& p, std::string path, Arguments... arguments)
        : source_(p, std::move(path), arguments...) {}

    const state& last() const noexcept { return last_; }
    /// Removes the watches from the server, unless a driver uses them, which then does it.
    void forget() {
        if (!driven_)
            source_.forget();
    }

private:
    template <class Core>
    friend task<> report_changes(std::shared_ptr<Core> self);
    template <class Core, class V>
    friend void report_next(const std::shared_ptr<Core>& core, handler_of<V> handler);

    bool pending() const noexcept { return call_ && !call_->over(); }

    Source source_;
    state last_;
    bool reported_ = false;
    /// The last call. Once it is over there may be another one, which the same driver serves: after
    /// a cancellation it may still wait for a response.
    std::optional<waiting_call<Value>> call_;
    bool driven_ = false;
};

/// Completes calls with a description of the state once there is news since the one last reported.
/// Ends when none is pending.
template <class Core>
task<> report_changes(std::shared_ptr<Core> self) {
    auto& reports = self->reports;
    signal& wake = reports.source_.wake;
    session_signal session(self->get_port(), wake);
    while (reports.pending()) {
        error_code ec = co_await reports.source_.look();
        const auto& now = reports.source_.view();
        if constexpr (requires { self->problem(now); })
            ec = ec ? ec : self->problem(now);
        if (!reports.pending())
            break;
        if (ec) {
            reports.call_->fail(ec);
        } else if (!reports.reported_ || self->is_news(now)) {
            reports.call_->complete(error_code(), self->describe(now));
            reports.reported_ = true;
            reports.last_ = now;
        } else {
            co_await wake.wait();
        }
    }
    reports.call_.reset();
    reports.driven_ = false;
    if (self->stopped())
        reports.forget();
}

/// Hands a call to the driver, which is started if there is none. `errc::busy` if another call is
/// pending.
template <class Core, class Value>
void report_next(const std::shared_ptr<Core>& core, handler_of<Value> handler) {
    auto& reports = core->reports;
    if (reports.pending())
        return refuse(core, std::move(handler), errc::busy);
    reports.call_.emplace(*core, std::move(handler), reports.source_.wake);
    if (std::exchange(reports.driven_, true))
        return;
    core->get_port().spawn(report_changes(core));
}

/// Completes a call once what `describe` makes of the node is present.
template <class Core, class Value, class Describe>
task<> await_node(std::shared_ptr<Core> self,
                  handler_of<Value> handler,
                  std::string path,
                  time_limit limit,
                  Describe describe) {
    port& p = self->get_port();
    followed_node node(p, std::move(path));
    waiting_call<Value> call(*self, std::move(handler), node.wake, limit);
    session_signal session(p, node.wake);
    while (!call.over()) {
        error_code ec = co_await node.look();
        Value found = describe(node.view());
        if (ec || found.present) {
            call.complete(ec, std::move(found));
        } else if (!call.over()) {
            co_await node.wake.wait();
        }
    }
    node.forget();
}

}  // namespace corozk::detail
