// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/toolkit/node_view.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/time_limit.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// Follows a node across changes, absence, reconnects and sessions.
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

/// What users follow, with one call at a time, and the state last reported to them.
template <class Source>
class told {
public:
    using state = typename Source::state;

    told(port& p, std::string path) : source_(p, std::move(path)) {}

    const state& last() const noexcept { return last_; }
    /// Whether a call is pending.
    bool following() const noexcept { return following_; }
    /// Removes the watches from the server, unless calls are pending.
    void forget() {
        if (!following_)
            source_.forget();
    }

private:
    template <class Core, class Value>
    friend task<> tell_next(std::shared_ptr<Core> self,
                            any_handler<void(error_code, Value)> handler);

    Source source_;
    state last_;
    bool told_anything_ = false;
    bool following_ = false;
};

/// Completes a call once there is news since the state last reported (`told_of`), which is then
/// described to the user.
template <class Core, class Value>
task<> tell_next(std::shared_ptr<Core> self, any_handler<void(error_code, Value)> handler) {
    auto& told = self->told_of;
    signal& wake = told.source_.wake;
    told.following_ = true;
    waiting_call<Value> call(*self, std::move(handler), wake);
    session_signal session(self->get_port(), wake);
    while (!call.over()) {
        error_code ec = co_await told.source_.look();
        const auto& now = told.source_.view();
        if (ec) {
            call.fail(ec);
        } else if (call.over()) {
            break;
        } else if (!told.told_anything_ || self->is_news(now)) {
            call.complete(error_code(), self->describe(now));
            told.told_anything_ = true;
            told.last_ = now;
        } else {
            co_await wake.wait();
        }
    }
    told.following_ = false;
    if (self->stopped())
        told.forget();
}

/// Starts `tell_next`, unless a call is pending.
template <class Core, class Value>
void start_telling(const std::shared_ptr<Core>& core,
                   any_handler<void(error_code, Value)> handler) {
    if (core->told_of.following())
        return refuse(core, std::move(handler), errc::busy);
    core->get_port().spawn(tell_next(core, std::move(handler)));
}

/// Completes a call once what `describe` makes of the node is present.
template <class Core, class Value, class Describe>
task<> await_node(std::shared_ptr<Core> self,
                  any_handler<void(error_code, Value)> handler,
                  std::string path,
                  time_limit limit,
                  Describe describe) {
    port& p = self->get_port();
    followed_node node(p, std::move(path));
    waiting_call<Value> call(*self, std::move(handler), node.wake, limit.from(p.now()));
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
