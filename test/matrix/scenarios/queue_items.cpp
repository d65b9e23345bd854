// SPDX-License-Identifier: Apache-2.0
#include "queue_items.hpp"

#include <algorithm>
#include <map>

namespace corozk::matrix {

namespace {

constexpr std::string_view effect_prefix = "effect-";

bool is_foreign(const std::string& data) {
    return data == "not yours";
}

std::map<std::string, int> accounted_for(stage& s) {
    std::map<std::string, int> found;
    for (const std::string& name : s.children(queue_path(s))) {
        std::string data = s.data(queue_path(s) + "/" + name);
        if (!is_foreign(data))
            ++found[data];
    }
    for (const std::string& item : s.notes("taken"))
        ++found[item];
    for (const std::string& name : s.children(s.folder())) {
        if (name.starts_with(effect_prefix))
            ++found[name.substr(effect_prefix.size())];
    }
    return found;
}

}  // namespace

std::string queue_path(const stage& s) {
    return s.folder() + "/q";
}

std::string effect_of(const stage& s, const std::string& item) {
    return s.folder() + "/" + std::string(effect_prefix) + item;
}

bool is_of_a_queue(stage& s, const std::string& below_folder) {
    // What an object notes down of itself goes with the object, or else with a later one's help.
    bool helpless = s.which() == fault::close_client || s.which() == fault::destroy_client;
    return below_folder == "q" || below_folder.starts_with("q/") || below_folder == "q-control" ||
           below_folder == "q-control/bound" || below_folder.starts_with(effect_prefix) ||
           (helpless && below_folder.starts_with("q-control/"));
}

awaitable<void> no_item_lost(stage& s) {
    // With its parent the whole queue is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    // Handed over with the error that says so.
    bool unknown = s.which() == fault::close_client || s.which() == fault::destroy_client;
    std::size_t may_be_lost = unknown ? s.notes("unknown").size() : 0;
    // An item that nobody waits for any more is put back in the background.
    auto missing = [&] {
        std::map<std::string, int> found = accounted_for(s);
        return static_cast<std::size_t>(
            std::count_if(s.notes("put").begin(), s.notes("put").end(), [&](const auto& item) {
                return !found.contains(item);
            }));
    };
    co_await testing::eventually_async(
        [&] { return missing() <= may_be_lost; }, s.patience(), "no item is lost");
    // What was put too late is taken out again in the background.
    std::map<std::string, int> found;
    co_await testing::eventually_async(
        [&] {
            found = accounted_for(s);
            return std::none_of(s.notes("refused").begin(),
                                s.notes("refused").end(),
                                [&](const auto& item) { return found.contains(item); });
        },
        s.patience(),
        "what was not sent, or not in time, is not there");
    const auto& tried = s.notes("tried");
    for (const auto& [item, times] : found) {
        s.check(times == 1, "the item is there once: " + item);
        s.check(std::find(tried.begin(), tried.end(), item) != tried.end(),
                "the item was put: " + item);
    }
}

awaitable<queue_item> taken(stage& s, call<queue_item>& taking, std::string expected) {
    error_code ec = co_await taking.ended();
    if (is_outcome_unknown(ec))
        s.note("unknown", expected);
    queue_item item = co_await taking.result();
    s.note("taken", item.data);
    co_return item;
}

}  // namespace corozk::matrix
