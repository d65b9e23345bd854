// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/owned.hpp"
#include "recipe/locks/multi_lock_rule.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/multi_lock.hpp>

#include <algorithm>

namespace corozk {

using namespace detail;

namespace {

using part_list = std::vector<acquisition>;

/// The parts granted so far, and waits for their losses, which are failures.
class granted_parts {
public:
    granted_parts(port& p, signal& wake) : port_(p), wake_(wake) {}

    std::size_t size() const noexcept { return parts_.size(); }

    void add(std::string path, ownership held) {
        losses_.push_back(std::make_unique<inner_call<error_code>>(port_, wake_));
        held.implementation()->wait_lost(user_call<error_code>(port_, losses_.back()->handler()));
        parts_.emplace_back(std::move(path), std::move(held));
    }

    bool valid() const noexcept {
        return std::all_of(
            parts_.begin(), parts_.end(), [](const multi_part& part) { return part.held.valid(); });
    }

    /// The reason for the loss of a part, or no error.
    error_code loss() {
        for (auto& loss : losses_) {
            if (loss->done())
                return loss->error() ? loss->error() : loss->value();
        }
        return error_code();
    }

    /// Stops waiting for losses.
    multi_ownership take() {
        for (auto& loss : losses_)
            loss->cancel();
        losses_.clear();
        return multi_ownership(std::move(parts_));
    }

private:
    port& port_;
    signal& wake_;
    std::vector<multi_part> parts_;
    std::vector<std::unique_ptr<inner_call<error_code>>> losses_;
};

task<> acquire_all(port& p,
                   part_list parts,
                   bool try_only,
                   time_limit limit,
                   handler_of<multi_ownership> handler) {
    recipe_core core(p);
    signal wake(p);
    waiting_call<multi_ownership> call(core, std::move(handler), wake, limit);
    granted_parts granted(p, wake);
    error_code failure;
    for (;;) {
        failure = granted.loss();
        multi_state state;
        state.parts = parts.size();
        state.granted = granted.size();
        state.over = failure || call.over();
        state.all_valid = granted.valid();
        multi_step step = decide(state);
        if (step == multi_step::deliver) {
            call.complete(error_code(), granted.take());
            co_return;
        }
        if (step == multi_step::roll_back)
            break;
        if (step == multi_step::wait_for_loss) {
            co_await wake.wait();
            continue;
        }
        const acquisition& part = parts[granted.size()];
        inner_call<ownership> next(p, wake);
        part.start(try_only, next.handler());
        while (!next.done() && !granted.loss() && !call.over())
            co_await wake.wait();
        if (!next.done()) {
            next.cancel();
            while (!next.done())
                co_await wake.wait();
        }
        if (!next.error()) {
            granted.add(part.path(), std::move(next.value()));
            continue;
        }
        failure = granted.loss();
        if (!failure)
            failure = next.error();
        break;
    }
    if (granted.size() > 0) {
        multi_ownership rest = granted.take();
        inner_call<> released(p, wake);
        rest.release(released.token());
        // The release is guaranteed: do not wait for it beyond the end of the call.
        while (!released.done() && call.waiting())
            co_await wake.wait();
    }
    call.fail(failure);
}

}  // namespace

multi_lock::multi_lock(const client& c) : session_(c.implementation()) {}

multi_lock& multi_lock::add_part(acquisition part) {
    parts_.push_back(std::move(part));
    return *this;
}

std::vector<std::string> multi_lock::paths() const {
    std::vector<std::string> result;
    for (const acquisition& part : parts_)
        result.push_back(part.path());
    std::sort(result.begin(), result.end());
    return result;
}

std::string multi_lock::first_path() const {
    return parts_.empty() ? std::string() : paths().front();
}

void multi_lock::start_acquire(const session_ptr& s,
                               part_list parts,
                               bool try_only,
                               time_limit limit,
                               handler_of<multi_ownership> handler) {
    std::vector<std::string> paths;
    error_code ec;
    if (!s)
        ec = errc::closed;
    else if (parts.empty())
        ec = detail::port_of(*s).reject(errc::bad_option, "multi_lock: it has no parts");
    for (const acquisition& part : parts) {
        paths.push_back(part.path());
        if (!ec && !part.owner())
            ec = errc::closed;
        if (!ec && part.owner() != s) {
            ec = detail::port_of(*s).reject(errc::bad_option,
                                            "multi_lock: \"",
                                            part.path(),
                                            "\" belongs to another client, or to another view of "
                                            "this one (client::below)");
        }
    }
    if (auto twice = named_twice(paths); !ec && twice) {
        ec = errc::would_deadlock;
        detail::port_of(*s).report(
            log_level::error, "multi_lock: \"", *twice, "\" was added twice");
    }
    if (ec)
        return refuse(s, std::move(handler), ec);
    part_list ordered;
    for (std::size_t index : global_order(paths))
        ordered.push_back(std::move(parts[index]));
    detail::port& p = detail::port_of(*s);
    p.spawn(acquire_all(p, std::move(ordered), try_only, limit, std::move(handler)));
}

}  // namespace corozk
