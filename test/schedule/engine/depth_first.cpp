// SPDX-License-Identifier: Apache-2.0
#include "depth_first.hpp"

#include "stage.hpp"

#include <utility>

namespace corozk::schedule {

namespace {

std::uint64_t key_of(const move& m) {
    model::hasher h;
    h.add(m.kind);
    h.add(m.who);
    h.add(m.path);
    return h.value();
}

}  // namespace

std::uint64_t move_bits::of(const move& m) {
    std::size_t number = numbers_.try_emplace(key_of(m), numbers_.size()).first->second;
    return number < 64 ? std::uint64_t{1} << number : 0;
}

std::vector<depth_first::sleeping> depth_first::branch::asleep_after(
    const model::footprint& by) const {
    std::vector<sleeping> still;
    for (const sleeping& other : asleep) {
        if (!other.touches.conflicts_with(by))
            still.push_back(other);
    }
    return still;
}

bool depth_first::branch::advance() {
    asleep.push_back({bits[at], std::move(touched)});
    touched = model::footprint();
    return ++at < open.size();
}

depth_first::depth_first(bool by_footprints, checkpoints* memory)
    : by_footprints_(by_footprints), memory_(memory) {}

std::size_t depth_first::choose(stage& s, const std::vector<move>& moves) {
    std::size_t chosen = decide(s, moves);
    // Nobody comes back to where nothing else is left to be chosen.
    if (fresh_ && memory_ && path_.back().open.size() > 1)
        path_.back().moment = memory_->save();
    return chosen;
}

/// It goes on in one way only, and in the same one from the same state.
bool depth_first::look_at_the_rest(stage& s) {
    memory_scope here(memory_scope::owner::explorer);
    return rests_.find_or_add(s.hash()).second;
}

/// By the state that it ends in, which no choice follows.
bool depth_first::look_at_the_end(stage& s) {
    memory_scope here(memory_scope::owner::explorer);
    return seen_.find_or_add(s.hash()).second;
}

bool depth_first::advance() {
    // What comes after the end of a schedule is not played in other orders.
    if (ended_ && !path_.empty())
        path_.back().touched.touch_everything();
    ended_ = true;
    at_ = 0;
    while (!path_.empty() && !path_.back().advance())
        path_.pop_back();
    return !path_.empty();
}

choice_list depth_first::choices() const {
    choice_list list;
    for (const branch& b : path_)
        list.push_back(b.chosen());
    return list;
}

/// Its own memory is not the schedule's.
std::size_t depth_first::decide(stage& s, const std::vector<move>& moves) {
    s.complete_footprint();
    memory_scope here(memory_scope::owner::explorer);
    model::footprint touched = s.touched();
    s.forget_footprint();
    fresh_ = false;
    if (!memory_ && at_ < path_.size())
        return path_[at_++].chosen();
    ended_ = false;
    if (!path_.empty())
        path_.back().touched = touched;
    branch b;
    if (by_footprints_ && !path_.empty())
        b.asleep = path_.back().asleep_after(touched);
    if (!wake_up(s.hash(), moves, b))
        return moves.size();
    ended_ = true;
    fresh_ = true;
    path_.push_back(std::move(b));
    ++at_;
    return path_.back().chosen();
}

/// What is to be played in a state. @return false if there is nothing
bool depth_first::wake_up(std::uint64_t state, const std::vector<move>& moves, branch& b) {
    std::uint64_t sleep_now = 0;
    for (const sleeping& one : b.asleep)
        sleep_now |= one.bit;
    auto [known, fresh] = seen_.find_or_add(state);
    for (std::size_t i = 0; i < moves.size(); ++i) {
        std::uint64_t bit = bits_.of(moves[i]);
        bool sleeps = (sleep_now & bit) != 0;
        bool played = !fresh && (known->moves & bit) == 0;
        if (!sleeps && !played) {
            b.open.push_back(i);
            b.bits.push_back(bit);
        }
        if (fresh && sleeps)
            known->moves |= bit;
    }
    if (!fresh)
        known->moves &= sleep_now;
    return !b.open.empty();
}

}  // namespace corozk::schedule
