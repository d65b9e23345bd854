// SPDX-License-Identifier: Apache-2.0
// What the scenarios of all recipes that queue have in common: somebody has its turn.
#pragma once

#include "engine/stage.hpp"
#include "patience.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace corozk::schedule {

inline constexpr const char* folder = "/f";

/// How a turn is checked.
struct turn_rule {
    turn_rule() = default;
    int weight = 1;
    int limit = 1;

    /// Whether a contender with this name, ahead of us, may still be there when we are granted.
    std::function<bool(const std::string& name)> may_be_ahead;
};

/// The number at the end of a contender's name; nothing if it is another node's name.
inline std::optional<std::int32_t> sequence_of(const std::string& name) {
    std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (name.size() - digits != 10)
        return std::nullopt;
    // After 2^31 nodes they are negative: "-lock--2147483648".
    bool negative = digits >= 2 && name[digits - 1] == '-' && name[digits - 2] == '-';
    return static_cast<std::int32_t>(std::stoll(name.substr(negative ? digits - 1 : digits)));
}

/// Numbers wrap around.
inline bool comes_before(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) -
                                     static_cast<std::uint32_t>(b)) < 0;
}

/// Nobody is overtaken: at the grant there is nobody ahead who was to come first.
inline void check_order(actor& a, const std::string& path, const turn_rule& rule) {
    auto mine = sequence_of(model::name_in_parent(path));
    if (!mine)
        return;  // the record of a grant by priority, which no number orders
    for (const std::string& name : a.on().children(model::parent_of(path))) {
        auto other = sequence_of(name);
        if (!other || !comes_before(*other, *mine))
            continue;
        if (rule.may_be_ahead && rule.may_be_ahead(name))
            continue;
        a.on().check(false, a.name() + " has overtaken " + name);
    }
}

/// Also what is not an ownership, but has its `release`.
template <class Held>
awaitable<void> give_back(actor& a, Held& held) {
    auto firm = a.firm_token();
    auto [released] = co_await held.release(firm);
    a.may_see(released, "release");
}

/// Asks once, and holds it for a while.
template <class Acquire>
awaitable<void> hold_for_a_while(actor& a, Acquire acquire) {
    auto token = a.token();
    auto [ec, held] = co_await acquire(token);
    if (!a.may_see(ec, "acquire") || ec)
        co_return;
    check_order(a, held.path(), turn_rule());
    {
        stage::tenure owner(a, held);
        for (int i = 0; i < 3; ++i)
            co_await pause();
    }
    co_await give_back(a, held);
}

/// Asks, again if the session went, until it has had its turn; holds it at a gate, gives it back.
/// @param acquire  starts the operation: `acquire(token)` gives an awaitable
template <class Acquire>
awaitable<void> have_a_turn(actor& a, Acquire acquire, turn_rule rule = turn_rule()) {
    for (;;) {
        auto token = a.token();
        auto [ec, held] = co_await acquire(token);
        if (ec) {
            if (!a.may_see(ec, "acquire") || a.cancelled())
                co_return;
            continue;
        }
        if (held.valid())
            check_order(a, held.path(), rule);
        {
            stage::tenure owner(a, held, rule.weight, rule.limit);
            co_await a.gate("holding");
        }
        co_await give_back(a, held);
        co_return;
    }
}

/// Somebody who takes part.
struct contender {
    const char* name;
    awaitable<void> (*plays)(actor&);
};

/// The sessions are shared out one after the other; without their number each has its own.
inline void play_all(stage& s, std::initializer_list<contender> all, int sessions = 0) {
    int index = 0;
    for (const contender& one : all) {
        s.play(one.name, sessions > 0 ? index % sessions : index, one.plays);
        ++index;
    }
}

/// All of them contend below `folder`, where nothing is left in the end.
inline void contend_all(stage& s, std::initializer_list<contender> all, int sessions = 0) {
    play_all(s, all, sessions);
    s.leaves_nothing_in(folder);
}

}  // namespace corozk::schedule
