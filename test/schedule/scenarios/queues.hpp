// SPDX-License-Identifier: Apache-2.0
// What the scenarios of all queues have in common: items go from a producer to takers, and each of
// them is somewhere in the end.
#pragma once

#include "turns.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace corozk::schedule {

inline constexpr const char* queue_path = "/f/q";
inline constexpr const char* queue_control = "/f/q-control";

/// The nodes of items and of `exactly_once`.
inline constexpr std::initializer_list<const char*> queue_folders = {
    "/f", queue_path, queue_control};

/// Puts one item, however often that takes.
/// @param start  starts a put of it: `start(token)` gives an awaitable
/// @return whether it was put
template <class Start>
awaitable<bool> put_for_certain(actor& a, std::string item, Start start) {
    a.on().note_down("tried", item);
    for (;;) {
        auto token = a.firm_token();
        auto [ec] = co_await start(token);
        if (!ec)
            break;
        // What was not sent for too long is given up.
        bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
        a.on().check(silent, "put " + item + ": " + ec.message());
        if (!silent)
            co_return false;
    }
    a.on().note_down("put", item);
    co_return true;
}

/// Takes one item; nothing if a fault has ended that.
template <class Queue>
awaitable<std::optional<queue_item>> take_an_item(actor& a, Queue& q) {
    auto token = a.token();
    auto [ec, item] = co_await q.take(token);
    if (!a.may_see(ec, "take") || ec)
        co_return std::nullopt;
    a.on().note_down("taken", item.data);
    co_return std::move(item);
}

/// Each item that was put is in the queue, was taken, or is found elsewhere: once.
inline void each_item_once(stage& s, const std::vector<std::string>& elsewhere) {
    std::vector<std::string> found = s.notes("taken");
    for (const std::string& name : s.children(queue_path)) {
        std::string node = std::string(queue_path) + "/" + name;
        if (s.exists(node))
            found.push_back(s.data(node));
    }
    found.insert(found.end(), elsewhere.begin(), elsewhere.end());
    for (const std::string& item : s.notes("put")) {
        auto times = std::count(found.begin(), found.end(), item);
        s.check(times == 1, "item " + item + " is there " + std::to_string(times) + " times");
    }
    for (const std::string& item : s.notes("tried"))
        s.check(std::count(found.begin(), found.end(), item) <= 1, "item " + item + " is doubled");
}

/// No item is claimed any more, and no object keeps a node of `exactly_once`. (A client that is closed
/// before its objects leaves such a node; no scenario does that.)
inline void nothing_but_items(stage& s) {
    for (const std::string& item : s.children(queue_path)) {
        for (const std::string& claim : s.children(std::string(queue_path) + "/" + item))
            s.check(false, "a claim is left: " + item + "/" + claim);
    }
    for (const std::string& name : s.children(queue_control))
        s.check(name == "bound", std::string("a node is left: ") + queue_control + "/" + name);
}

/// What holds in the end, whoever uses the queue.
/// @param elsewhere  gives the items that are neither in the queue nor taken
inline void settles_its_items(stage& s,
                              std::function<std::vector<std::string>(stage&)> elsewhere = {}) {
    s.finally([elsewhere](stage& end) {
        each_item_once(end, elsewhere ? elsewhere(end) : std::vector<std::string>());
    });
    s.finally(nothing_but_items);
}

/// All of them use the queue, each with a session of its own, and nothing is lost.
inline void pass_items(stage& s, std::initializer_list<contender> all) {
    play_all(s, all);
    settles_its_items(s);
}

}  // namespace corozk::schedule
