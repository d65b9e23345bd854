// SPDX-License-Identifier: Apache-2.0
#pragma once

// What only the files of the line share.

#include "operation/path.hpp"
#include "recipe/contention/line.hpp"

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
inline constexpr std::size_t idle_lines = 64;

/// Enough to keep the server busy; more would only cost memory.
inline constexpr std::size_t creates_in_flight = 1024;

/// A request about one contender, which it keeps alive. Owns itself.
class line::contender_operation final : public operation {
public:
    using handler = void (*)(line&, contender_ptr, operation&);

    contender_operation(line& l, op_code code_, std::string path_, contender_ptr c, handler h)
        : operation(code_, std::move(path_)), line_(l), contender_(std::move(c)), handler_(h) {}

private:
    void finished() noexcept override {
        line& l = line_;
        handler_(l, contender_, *this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
    contender_ptr contender_;
    handler handler_;
};

/// Erases a holder's node and checks that the next one's is there.
class line::hand_over_operation final : public operation {
public:
    /// To one of ours.
    hand_over_operation(line& l, contender_ptr from, contender_ptr to)
        : operation(op_code::multi, from->path()),
          line_(l),
          from_(std::move(from)),
          to_(std::move(to)) {
        transaction both;
        both.erase(path).check(to_->path());
        steps = both.steps();
    }

    /// To somebody else's, which hears of it by the announcement.
    hand_over_operation(line& l, contender_ptr from, const std::string& to)
        : operation(op_code::multi, from->path()), line_(l), from_(std::move(from)) {
        std::string announcement = announcement_of(to);
        create_options how;
        how.mode = create_mode::ephemeral;
        if (!l.settings().entries.empty())
            how.acl = &l.settings().entries;
        transaction all;
        if (l.settings().initial_limit > 0)
            all.check(l.settings().directory, l.limit_version_);
        all.check(to).create(announcement, std::string(), how).erase(announcement).erase(path);
        steps = all.steps();
    }

private:
    void finished() noexcept override {
        line& l = line_;
        l.handed_over(*from_, to_.get(), *this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
    contender_ptr from_;
    contender_ptr to_;
};

class line::listing_operation final : public operation {
public:
    listing_operation(line& l, std::string directory)
        : operation(op_code::children, std::move(directory)), line_(l) {}

private:
    void finished() noexcept override {
        line& l = line_;
        l.listed(*this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
};

/// Somebody else's contender, and the watch on it if the head waits for it.
class line::foreign_node final : public line_node, public watch_node {
public:
    foreign_node(line& l, std::string name) : line_node(false), line_(l), name_(std::move(name)) {}

    std::string path() const { return join_path(line_.settings().directory, name_); }

    /// Looks at it, and leaves a watch if it is there.
    void look() {
        if (look_)
            return;
        line_.watching_ = true;
        look_ = std::make_unique<look_operation>(*this);
        ++line_.operations_;
        line_.port_.start(*look_);
    }

    bool looking() const noexcept { return look_ != nullptr; }
    bool doomed() const noexcept { return doomed_; }

    /// The line forgot it while a look was on its way.
    void doom() noexcept { doomed_ = true; }

private:
    class look_operation final : public operation {
    public:
        explicit look_operation(foreign_node& f) : operation(op_code::get, f.path()), node_(f) {
            generation = f.line_.port_.status().generation;
            attach(f);
        }

    private:
        void finished() noexcept override {
            line& l = node_.line_;
            foreign_node& f = node_;
            l.foreign_looked_at(f, *this);  // destroys this, and perhaps the node
            --l.operations_;
            l.wake();
        }
        void abandoned() noexcept override {
            if (node_.doomed_)
                delete &node_;  // destroys this; no line has it any more
        }

        foreign_node& node_;
    };

    friend class line;

    void fired(watch_event_type) noexcept override { line_.confirm_foreign(*this); }
    void dropped(const error_code&) noexcept override {}

    line& line_;
    std::string name_;
    std::unique_ptr<look_operation> look_;
    bool doomed_ = false;
    bool unreadable_ = false;  ///< for us
};

/// The entries ahead of one, the nearest first.
class line::walk final : public ahead_of {
public:
    walk(node_set& nodes, line_node& n, const line_node* without = nullptr)
        : begin_(nodes.begin()), at_(nodes.iterator_to(n)), without_(without) {}

    const line_entry* next() override {
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
    const line_node* without_;
};

template <class Operation, class... Args>
Operation& line::launch(Args&&... args) {
    auto* op = new Operation(*this, std::forward<Args>(args)...);
    ++operations_;
    return *op;
}

template <class Predicate>
void line::abandon_waiting(error_code reason, Predicate chosen) {
    std::vector<contender_ptr> abandoned;
    for (contender& c : waiting_) {
        if (chosen(c))
            abandoned.push_back(c.shared_from_this());
    }
    for (const auto& c : abandoned)
        c->abandon(reason);
}

}  // namespace corozk::detail
