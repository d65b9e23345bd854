// SPDX-License-Identifier: Apache-2.0
#pragma once

// What only the files of the line share.

#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// A lock that is given back sooner needs no watch on its node.
inline constexpr auto watch_delay = std::chrono::milliseconds(1);

/// Who waits behind others' contenders needs no watch on its own node for so long.
inline constexpr auto announcement_patience = std::chrono::seconds(1);

/// Lines that nobody is in, kept for what they know of their folder's latest contender.
inline constexpr std::size_t idle_queues = 64;

/// Enough to keep the server busy; more would only cost memory.
inline constexpr std::size_t creates_in_flight = 1024;

/// A request about one contender, which it keeps alive. Owns itself.
class contention_queue::contender_operation final : public operation {
public:
    using handler = void (*)(contention_queue&, contender_ptr, operation&);

    contender_operation(contention_queue& q,
                        op_code code_,
                        std::string path_,
                        contender_ptr c,
                        handler h)
        : operation(code_, std::move(path_)), queue_(q), contender_(std::move(c)), handler_(h) {}

private:
    void finished() noexcept override {
        contention_queue& q = queue_;
        handler_(q, contender_, *this);
        --q.operations_;
        q.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    contention_queue& queue_;
    contender_ptr contender_;
    handler handler_;
};

/// Erases a holder's node and checks that the next one's is there.
class contention_queue::hand_over_operation final : public operation {
public:
    /// To one of ours.
    hand_over_operation(contention_queue& q, contender_ptr from, contender_ptr to)
        : operation(op_code::multi, from->path()),
          queue_(q),
          from_(std::move(from)),
          to_(std::move(to)) {
        transaction both;
        both.erase(path).check(to_->path());
        steps = both.steps();
    }

    /// To somebody else's, which hears of it by the announcement.
    hand_over_operation(contention_queue& q, contender_ptr from, const std::string& to)
        : operation(op_code::multi, from->path()), queue_(q), from_(std::move(from)) {
        std::string announcement = announcement_of(to);
        create_options how;
        how.mode = create_mode::ephemeral;
        if (!q.settings().entries.empty())
            how.acl = &q.settings().entries;
        transaction all;
        if (q.settings().initial_limit > 0)
            all.check(q.settings().directory, q.limit_version_);
        all.check(to).create(announcement, std::string(), how).erase(announcement).erase(path);
        steps = all.steps();
    }

private:
    void finished() noexcept override {
        contention_queue& q = queue_;
        q.handed_over(*from_, to_.get(), *this);
        --q.operations_;
        q.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    contention_queue& queue_;
    contender_ptr from_;
    contender_ptr to_;
};

class contention_queue::listing_operation final : public operation {
public:
    listing_operation(contention_queue& q, std::string directory)
        : operation(op_code::children, std::move(directory)), queue_(q) {}

private:
    void finished() noexcept override {
        contention_queue& q = queue_;
        q.listed(*this);
        --q.operations_;
        q.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    contention_queue& queue_;
};

/// Somebody else's contender, and the watch on it if the head waits for it.
class contention_queue::remote_node final : public contention_node, public watch_node {
public:
    remote_node(contention_queue& q, std::string name)
        : contention_node(false), queue_(q), name_(std::move(name)) {}

    std::string path() const { return join_path(queue_.settings().directory, name_); }

    /// Looks at it, and leaves a watch if it is there.
    void look() {
        if (look_)
            return;
        queue_.watching_ = true;
        look_ = std::make_unique<look_operation>(*this);
        ++queue_.operations_;
        queue_.port_.start(*look_);
    }

    bool looking() const noexcept { return look_ != nullptr; }
    bool doomed() const noexcept { return doomed_; }

    /// The line forgot it while a look was on its way.
    void doom() noexcept { doomed_ = true; }

private:
    class look_operation final : public operation {
    public:
        explicit look_operation(remote_node& f) : operation(op_code::get, f.path()), node_(f) {
            generation = f.queue_.port_.status().generation;
            attach(f);
        }

    private:
        void finished() noexcept override {
            contention_queue& q = node_.queue_;
            remote_node& f = node_;
            q.foreign_looked_at(f, *this);  // destroys this, and perhaps the node
            --q.operations_;
            q.wake();
        }
        void abandoned() noexcept override {
            if (node_.doomed_)
                delete &node_;  // destroys this; no line has it any more
        }

        remote_node& node_;
    };

    friend class contention_queue;

    void fired(watch_event_type) noexcept override { queue_.confirm_foreign(*this); }
    void dropped(const error_code&) noexcept override {}

    contention_queue& queue_;
    std::string name_;
    std::unique_ptr<look_operation> look_;
    bool doomed_ = false;
    bool unreadable_ = false;  ///< for us
};

/// The entries ahead of one, the nearest first.
class contention_queue::walk final : public ahead_of {
public:
    walk(node_set& nodes, contention_node& n, const contention_node* without = nullptr)
        : begin_(nodes.begin()), at_(nodes.iterator_to(n)), without_(without) {}

    const contention_entry* next() override {
        if (at_ != begin_ && &*std::prev(at_) == without_)
            --at_;
        if (at_ == begin_)
            return nullptr;
        --at_;
        return &*at_;
    }

private:
    node_set::iterator begin_;
    node_set::iterator at_;
    const contention_node* without_;
};

template <class Operation, class... Args>
Operation& contention_queue::launch(Args&&... args) {
    auto* op = new Operation(*this, std::forward<Args>(args)...);
    ++operations_;
    return *op;
}

template <class Predicate>
void contention_queue::abandon_waiting(error_code reason, Predicate chosen) {
    std::vector<contender_ptr> abandoned;
    for (contender& c : waiting_) {
        if (chosen(c))
            abandoned.push_back(c.shared_from_this());
    }
    for (const auto& c : abandoned)
        c->abandon(reason);
}

}  // namespace corozk::detail
