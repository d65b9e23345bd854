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

/// A followed node, and the state last reported to the user.
class told_node {
public:
    told_node(port& p, std::string path) : node_(p, std::move(path)) {}

    const node_view& told() const noexcept { return told_; }
    /// Whether a call is pending.
    bool following() const noexcept { return following_; }
    /// Removes the watches from the server, unless calls are pending.
    void forget() {
        if (!following_)
            node_.forget();
    }

private:
    template <class Core, class Value>
    friend task<> tell_next(std::shared_ptr<Core> self,
                            any_handler<void(error_code, Value)> handler);

    followed_node node_;
    node_view told_;
    bool told_anything_ = false;
    bool following_ = false;
};

/// Completes a call once the node differs from the state last reported.
template <class Core, class Value>
task<> tell_next(std::shared_ptr<Core> self, any_handler<void(error_code, Value)> handler) {
    told_node& node = self->node;
    signal& wake = node.node_.wake;
    node.following_ = true;
    waiting_call<Value> call(*self, std::move(handler), wake);
    session_signal session(self->get_port(), wake);
    while (!call.over()) {
        error_code ec = co_await node.node_.look();
        const node_view& now = node.node_.view();
        if (ec) {
            call.fail(ec);
        } else if (call.over()) {
            break;
        } else if (!node.told_anything_ || (now.differs(node.told_) && self->is_news(now))) {
            node.told_anything_ = true;
            node.told_ = now;
            call.complete(error_code(), self->describe(now));
        } else {
            co_await wake.wait();
        }
    }
    node.following_ = false;
    if (self->stopped())
        node.forget();
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
