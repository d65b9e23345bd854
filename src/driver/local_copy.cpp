// SPDX-License-Identifier: Apache-2.0
#include "driver/local_copy.hpp"

#include "operation/step_path.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

local_copy::local_copy(port& p, std::string root, std::size_t depth)
    : root_(p.absolute(std::move(root))), depth_(depth), observer_(*this) {
    p.add_copy(*this);
    p.subscribe(observer_);
}

void local_copy::begin_round() {
    marked_ = false;
    reading_ = true;
    current_.owes = current_.owes || next_.owes;
    current_.held.insert(current_.held.end(),
                         std::make_move_iterator(next_.held.begin()),
                         std::make_move_iterator(next_.held.end()));
    next_ = round();
}

void local_copy::end_round() {
    reading_ = false;
    current_ = round();  // releases held completions
}

void local_copy::retire() noexcept {
    unlink();
    observer_.unlink();
    marked_ = reading_ = false;
    current_ = next_ = round();
}

void local_copy::hold(std::shared_ptr<void> held) {
    (next_.owes ? next_ : current_).held.push_back(std::move(held));
}

/// A change whose response was lost may turn out to have succeeded: the next round must show it.
void local_copy::note(bool answered) noexcept {
    if (!answered || marked_)
        next_.owes = true;
    else if (reading_)
        current_.owes = true;
}

void local_copy::own_change(const operation& op) noexcept {
    const bool answered = !op.error;
    if (op.code == op_code::reconfigure) {
        if (covers("/zookeeper/config"))
            note(answered);
        return;
    }
    bool concerned =
        op.code == op_code::multi
            ? std::any_of(op.steps.begin(),
                          op.steps.end(),
                          [this](const auto& step) { return covers(step.path, step.mode); })
            : covers(op.path, op.mode);
    if (concerned)
        note(answered);
}

bool local_copy::covers(std::string_view path) const noexcept {
    if (path == root_)
        return true;
    std::size_t prefix = root_ == "/" ? 0 : root_.size();
    if (path.size() <= prefix || path[prefix] != '/' ||
        path.compare(0, prefix, root_, 0, prefix) != 0) {
        return false;
    }
    auto levels = std::count(path.begin() + static_cast<std::ptrdiff_t>(prefix), path.end(), '/');
    return static_cast<std::size_t>(levels) <= depth_;
}

/// The server appends ten or more digits to a sequential path.
bool local_copy::covers(std::string_view path, create_mode mode) const noexcept {
    if (covers(path))
        return true;
    return is_sequential(mode) && root_.size() > path.size() &&
           root_.compare(0, path.size(), path) == 0 &&
           root_.find_first_not_of("0123456789-", path.size()) == std::string::npos;
}

/// After a reconnect everything is read again, including the changes owed.
void local_copy::connection_observer::session_changed(const session_status& status) noexcept {
    if (status.state == session_state::connected || status.state == session_state::read_only)
        return;
    local_copy& owner = owner_;
    const bool owed = owner.owes();
    owner.marked_ = true;
    owner.reading_ = false;
    owner.current_ = owner.next_ = round();
    owner.next_.owes = owed;
}

}  // namespace corozk::detail
