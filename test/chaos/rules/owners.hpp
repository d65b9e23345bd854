// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/judgement.hpp"
#include "chaos/record.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace corozk::chaos {

/// Who owned when, by what the resource took and refused; it is not believed, either:
///
///  1. A token has one owner, for ever; so has a term of the leader.
///  2. What the resource takes never goes back to an earlier token.
///  3. It refuses only what is earlier than a token that it took.
///  4. Who asks for the lock after a token was taken gets a later one.
///  5. Two owners at a time, and with them refused accesses, come of lost sessions only: once all has
///     settled there are none.
class owners_judge {
public:
    explicit owners_judge(judgement& result) : result_(result) {}

    void hear(const record& r) {
        switch (r.what) {
            case deed::asked: taken_when_asked_[r.who] = latest_; break;
            case deed::entered:
                enter(r);
                use(r);
                break;
            case deed::used: use(r); break;
            case deed::fenced: refuse(r); break;
            case deed::left: inside_.erase(r.token); break;
            case deed::leads:
                if (is_new(leader_of_, r, "term"))
                    ++result_.terms;
                break;
            case deed::settled: settle(); break;
            default: break;
        }
    }

private:
    using owners = std::map<std::int64_t, std::string>;

    void enter(const record& r) {
        if (is_new(owner_of_, r, "token"))
            ++result_.hand_overs;
        if (!inside_.empty() && !inside_.contains(r.token)) {
            ++result_.overlaps;
            if (settled_)
                blame(r, "entered before the last owner had left, and no session was lost");
        }
        inside_ = {r.token};
        compare_with_asking(r);
    }

    void use(const record& r) {
        ++result_.accesses;
        if (r.token < latest_)
            blame(r, "was taken after token " + std::to_string(latest_));
        latest_ = std::max(latest_, r.token);
    }

    void refuse(const record& r) {
        ++result_.fenced;
        if (r.token >= latest_)
            blame(r, "was refused, and no later one had been taken");
        if (settled_)
            blame(r, "was refused, and no session was lost");
        compare_with_asking(r);
    }

    void compare_with_asking(const record& r) {
        auto asked = taken_when_asked_.find(r.who);
        if (asked != taken_when_asked_.end() && r.token <= asked->second) {
            blame(r,
                  "was asked for after token " + std::to_string(asked->second) + " had been taken");
        }
    }

    /// Whoever died inside does not count any more.
    void settle() {
        settled_ = true;
        inside_.clear();
    }

    bool is_new(owners& known, const record& r, const std::string& what) {
        auto [at, fresh] = known.emplace(r.token, r.who);
        if (!fresh && at->second != r.who) {
            result_.violations.push_back(what + " " + std::to_string(r.token) + " is " + r.who +
                                         "'s and " + at->second + "'s");
        }
        return fresh;
    }

    void blame(const record& r, const std::string& why) {
        result_.violations.push_back("token " + std::to_string(r.token) + " of " + r.who + " " +
                                     why);
    }

    judgement& result_;
    owners owner_of_;
    owners leader_of_;
    std::int64_t latest_ = 0;
    std::map<std::string, std::int64_t> taken_when_asked_;
    std::set<std::int64_t> inside_;
    bool settled_ = false;
};

inline void judge_owners(const std::vector<record>& records, judgement& result) {
    owners_judge judge(result);
    for (const record& r : records)
        judge.hear(r);
}

}  // namespace corozk::chaos
