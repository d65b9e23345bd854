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

/// One node that is followed over its changes, its absence, reconnects and sessions.
class followed_node {
public:
    followed_node(port& p, std::string path);

    /// Brings `view` up to date; while a watch is set it is. `wake` tells when to look again.
    /// @return an error that asking again does not heal
    task<error_code> look();

    /// Takes the watches from the server.
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

/// A followed node, and what a user was told of it.
class told_node {
public:
    told_node(port& p, std::string path) : node_(p, std::move(path)) {}

    const node_view& told() const noexcept { return told_; }
    /// Whether somebody waits to be told.
    bool following() const noexcept { return following_; }
    /// Takes the watches from the server, once nobody waits any more.
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

/// Completes a call once the node is not as it was told before, if that is news.
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

/// Completes a call once the node is there.
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
        if (ec || node.view().present) {
            call.complete(ec, describe(node.view()));
        } else if (!call.over()) {
            co_await node.wake.wait();
        }
    }
    node.forget();
}

}  // namespace corozk::detail
