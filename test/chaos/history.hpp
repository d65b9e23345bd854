// SPDX-License-Identifier: Apache-2.0
// What many processes did under chaos, as others saw it, and whether it was right. No I/O.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::chaos {

enum class deed : std::uint8_t {
    entered,    ///< the resource took the token
    fenced,     ///< ... refused it: a later owner was there
    used,       ///< an access with the token that the resource carried out
    left,       ///< the owner said that it is done
    wrote,      ///< through `ownership::commit`; `number` is the transaction's zxid
    leads,      ///< a term of the leader latch began
    putting,    ///< an item is going to be put
    put,        ///< ... and was, by the client's word
    refused,    ///< ... and was not, by the client's word
    adding,     ///< the counter is going to be increased, `number` says which time
    added,      ///< ... and was; `token` is the sum that was told
    not_added,  ///< ... and was not
    witnessed,  ///< a plain change of one node; `token` is its version, `number` its zxid
};

/// In the order in which the resource heard of it.
struct record {
    record() = default;
    record(deed what_, std::string who_) : what(what_), who(std::move(who_)) {}
    record(deed what_, std::string who_, std::int64_t token_, std::int64_t number_ = 0)
        : what(what_), who(std::move(who_)), token(token_), number(number_) {}
    record(deed what_, std::string who_, std::string item_)
        : what(what_), who(std::move(who_)), item(std::move(item_)) {}

    deed what = deed::entered;
    std::string who;  ///< a process, and which life of it
    std::int64_t token = 0;
    std::int64_t number = 0;
    std::string item;
};

/// What the servers hold in the end.
struct final_state {
    final_state() = default;
    std::vector<std::string> queued;  ///< items that nobody took
    std::vector<std::string>
        effects;  ///< of items that were taken, written with the acknowledgement
    std::int64_t counter = 0;
};

struct judgement {
    std::vector<std::string> violations;
    std::size_t accesses = 0;
    std::size_t fenced = 0;
    std::size_t hand_overs = 0;
    std::size_t overlaps =
        0;  ///< an owner came before the last one had left: the last one was lost
    std::size_t guarded_writes = 0;
    std::size_t terms = 0;
    std::size_t put = 0;
    std::size_t in_doubt = 0;  ///< puts and increments of which nobody can know
    std::size_t added = 0;
    std::size_t witnessed = 0;
    /// What shows that the servers themselves lost changes that they had acknowledged: not ours.
    std::vector<std::string> taken_back;
};

/// The rules:
///  1. A token has one owner, for ever; so has a term of the leader.
///  2. What the resource accepts never goes back to an earlier token.
///  3. Nobody writes (in the order of zxids) through a guard after a later owner has.
///  4. What was put is queued or has had its effect, once; what was refused is nowhere, and what is
///     somewhere was put by somebody. In doubt: at most once.
///  5. The counter is the number of additions that succeeded, and of those in doubt at most all; no
///     sum was told twice.
///  6. Of the servers: a node's versions grow with the zxids, one by one at most once.
class history {
public:
    void add(record r) { records_.push_back(std::move(r)); }
    const std::vector<record>& records() const noexcept { return records_; }

    judgement judge(const final_state& last) const {
        judgement j;
        owners(j);
        guarded(j);
        queue(last, j);
        counter(last, j);
        servers(j);
        return j;
    }

private:
    static std::string text(std::int64_t number) { return std::to_string(number); }

    void owners(judgement& j) const {
        std::map<std::int64_t, std::string> owner_of;
        std::map<std::int64_t, std::string> leader_of;
        std::int64_t highest = 0;
        std::set<std::int64_t> inside;
        auto belongs = [&j](auto& known, const record& r, const char* what) {
            auto [at, fresh] = known.emplace(r.token, r.who);
            if (!fresh && at->second != r.who) {
                j.violations.push_back(std::string(what) + " " + text(r.token) + " is " + r.who +
                                       "'s and " + at->second + "'s");
            }
            return fresh;
        };
        for (const record& r : records_) {
            switch (r.what) {
                case deed::entered:
                    if (belongs(owner_of, r, "token"))
                        ++j.hand_overs;
                    if (!inside.empty() && !inside.contains(r.token))
                        ++j.overlaps;
                    inside.clear();
                    inside.insert(r.token);
                    [[fallthrough]];
                case deed::used:
                    ++j.accesses;
                    if (r.token < highest) {
                        j.violations.push_back("the resource took token " + text(r.token) + " of " +
                                               r.who + " after " + text(highest));
                    }
                    highest = std::max(highest, r.token);
                    break;
                case deed::left:
                    inside.erase(r.token);
                    break;
                case deed::fenced:
                    ++j.fenced;
                    break;
                case deed::leads:
                    if (belongs(leader_of, r, "term"))
                        ++j.terms;
                    break;
                default:
                    break;
            }
        }
    }

    void guarded(judgement& j) const {
        std::vector<record> writes;
        for (const record& r : records_) {
            if (r.what == deed::wrote)
                writes.push_back(r);
        }
        j.guarded_writes = writes.size();
        std::sort(writes.begin(), writes.end(), [](const record& a, const record& b) {
            return a.number < b.number;
        });
        for (std::size_t i = 1; i < writes.size(); ++i) {
            if (writes[i].token < writes[i - 1].token) {
                j.violations.push_back("a guarded write of " + writes[i].who + " with token " +
                                       text(writes[i].token) + " came after one with " +
                                       text(writes[i - 1].token));
            }
        }
    }

    void queue(const final_state& last, judgement& j) const {
        std::map<std::string, int> found;
        for (const std::string& item : last.queued)
            ++found[item];
        for (const std::string& item : last.effects)
            ++found[item];
        std::map<std::string, deed> fate;
        for (const record& r : records_) {
            if (r.what == deed::putting || r.what == deed::put || r.what == deed::refused)
                fate[r.item] = r.what;
        }
        for (const auto& [item, times] : found) {
            if (times > 1)
                j.violations.push_back("item " + item + " is there " + text(times) + " times");
            if (!fate.contains(item))
                j.violations.push_back("item " + item + " was put by nobody");
        }
        for (const auto& [item, how] : fate) {
            bool there = found.contains(item);
            if (how == deed::put) {
                ++j.put;
                if (!there)
                    j.violations.push_back("item " + item + " is lost");
            } else if (how == deed::refused) {
                if (there)
                    j.violations.push_back("item " + item + " was refused, and is there");
            } else {
                ++j.in_doubt;
            }
        }
    }

    void counter(const final_state& last, judgement& j) const {
        std::int64_t certain = 0;
        std::int64_t tried = 0;
        std::map<std::int64_t, std::string> told;
        for (const record& r : records_) {
            if (r.what == deed::added) {
                auto [at, fresh] = told.emplace(r.token, r.who);
                if (!fresh) {
                    j.violations.push_back("the sum " + text(r.token) + " was told to " +
                                           at->second + " and to " + r.who);
                }
            }
            tried += r.what == deed::adding ? 1 : r.what == deed::not_added ? -1 : 0;
            certain += r.what == deed::added ? 1 : 0;
        }
        j.added = static_cast<std::size_t>(certain);
        j.in_doubt += static_cast<std::size_t>(std::max<std::int64_t>(tried - certain, 0));
        if (last.counter < certain) {
            j.violations.push_back("the counter is " + text(last.counter) + " after " +
                                   text(certain) + " additions");
        }
        if (last.counter > tried) {
            j.violations.push_back("the counter is " + text(last.counter) + ", and only " +
                                   text(tried) + " additions were tried");
        }
    }

    void servers(judgement& j) const {
        std::map<std::int64_t, std::int64_t> version_at;
        for (const record& r : records_) {
            if (r.what == deed::witnessed)
                version_at[r.number] = r.token;
        }
        j.witnessed = version_at.size();
        std::int64_t highest = -1;
        std::int64_t highest_zxid = 0;
        for (const auto& [zxid, version] : version_at) {
            if (version <= highest) {
                j.taken_back.push_back("version " + text(version) + " was made at zxid " +
                                       text(zxid) + ", after version " + text(highest) +
                                       " at zxid " + text(highest_zxid));
            }
            highest = std::max(highest, version);
            if (highest == version)
                highest_zxid = zxid;
        }
    }

    std::vector<record> records_;
};

}  // namespace corozk::chaos
