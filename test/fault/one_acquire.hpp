// SPDX-License-Identifier: Apache-2.0
// One acquisition, with its loss and its release, for the sweep over turns (fault_engine.hpp).
#pragma once

#include "fault_engine.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace corozk::testing {

/// Somebody else's node, in front of the acquisition until that has seen it. None if `prefix` is
/// empty.
struct planted_blocker {
    std::string folder;
    std::string prefix;  ///< of its name, in front of the sequence
};

/// `Lock` is what is acquired, `Held` what that gives. It is released once it is watched.
template <class Lock, class Held>
class one_acquire : public interruptible {
public:
    /// `acquire(lock, handler)` starts it.
    template <class Acquire>
    one_acquire(client& c, std::unique_ptr<Lock> what, planted_blocker ahead, Acquire acquire)
        : client_(c), lock_(std::move(what)), folder_(ahead.folder) {
        if (!ahead.prefix.empty()) {
            rival_ = std::make_unique<admin>(shared_server().port());
            blocker_ = rival_->plant(
                ahead.folder + "/" + ahead.prefix, {}, node_kind::ephemeral_sequential);
        }
        acquire(*lock_,
                boost::asio::bind_cancellation_slot(
                    cancel_acquire_.slot(),
                    [this](error_code ec, Held h) { granted(ec, std::move(h)); }));
    }

    void turned() override {
        if (!blocker_.empty() && watches_below(folder_) > 0)
            unblock();
        if (held_ && client_.counters().watches > 0)
            let_go();
    }

    void unblock() override {
        if (!blocker_.empty())
            rival_->erase(std::exchange(blocker_, std::string()));
    }

    void cancel() override {
        give_up();
        cancel_acquire_.emit(boost::asio::cancellation_type::terminal);
        cancel_release_.emit(boost::asio::cancellation_type::terminal);
    }

    void destroy_object() override {
        give_up();
        lock_.reset();
    }

    bool finished() const override {
        if (acquired_ == 0)
            return false;
        return result_ || (lost_ > 0 && (!releasing_ || released_ > 0));
    }

    int most_calls() const override { return std::max({acquired_, lost_, released_}); }

protected:
    virtual void entered(const Held&) {}

private:
    void granted(error_code ec, Held h) {
        ++acquired_;
        result_ = ec;
        if (ec)
            return;
        held_ = std::move(h);
        entered(held_);
        held_.wait_lost([this](error_code, auto&&...) { ++lost_; });
        if (interrupted_)
            give_up();
    }

    void let_go() {
        releasing_ = true;
        held_.release(boost::asio::bind_cancellation_slot(cancel_release_.slot(),
                                                          [this](error_code) { ++released_; }));
    }

    void give_up() {
        interrupted_ = true;
        held_ = Held();
    }

    client& client_;
    std::unique_ptr<Lock> lock_;
    std::string folder_;
    std::unique_ptr<admin> rival_;
    std::string blocker_;
    Held held_;
    error_code result_;
    int acquired_ = 0;
    int lost_ = 0;
    int released_ = 0;
    bool releasing_ = false;
    bool interrupted_ = false;
    boost::asio::cancellation_signal cancel_acquire_;
    boost::asio::cancellation_signal cancel_release_;
};

}  // namespace corozk::testing
