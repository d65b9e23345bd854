// SPDX-License-Identifier: Apache-2.0
// A record at the server of who holds when, written by every holder through a session of its own,
// independent of the recipe under test.
//
//   RECORD/inside/<party>-<role>-<n>  ephemeral: a holder; the role is "read" or "write"
//   RECORD/turns                      the last party, hand-overs to us and to them, how often each
//                                     held, and how often both held at the same time
//   RECORD/violations/v-<n>           holders overlapped that exclude each other
//   RECORD/leave                      holders may release
//
// A holder first creates its marker and then looks for others: of two that overlap, the later one
// sees the earlier one's marker. The programs of the other parties do the same.
#pragma once

#include "pending_result.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace corozk::testing {

/// What a contest must reach.
struct contest_goal {
    contest_goal() = default;
    std::size_t limit = 1000;    ///< how many may hold if none of them writes
    std::int64_t handovers = 0;  ///< from us to them, and from them to us
    std::int64_t together = 0;   ///< visits while the other party was inside, too
};

struct turns {
    turns() = default;
    std::string last = "nobody";
    std::int64_t to_us = 0;
    std::int64_t to_them = 0;
    std::int64_t ours = 0;
    std::int64_t theirs = 0;
    std::int64_t together = 0;

    static turns parse(const std::string& text) {
        turns t;
        std::istringstream in(text);
        in >> t.last >> t.to_us >> t.to_them >> t.ours >> t.theirs >> t.together;
        if (!in)
            throw std::runtime_error("not a record: " + text);
        return t;
    }

    std::string print() const {
        std::ostringstream out;
        out << last << ' ' << to_us << ' ' << to_them << ' ' << ours << ' ' << theirs << ' '
            << together;
        return out.str();
    }

    bool reached(const contest_goal& goal) const {
        return to_us >= goal.handovers && to_them >= goal.handovers && together >= goal.together;
    }
};

inline constexpr const char* our_party = "corozk";

/// Creates the nodes of a record.
inline void open_record(admin& hand, const std::string& root) {
    hand.plant(root + "/inside");
    hand.plant(root + "/violations");
    hand.plant(root + "/turns", turns().print());
}

/// What has gone wrong so far, as everybody saw it.
inline std::vector<std::string> violations(admin& hand, const std::string& root) {
    std::vector<std::string> found;
    for (const std::string& name : hand.children(root + "/violations")) {
        found.push_back(hand.data(root + "/violations/" + name));
    }
    return found;
}

/// Our pen.
class record {
public:
    record(client session, std::string root, contest_goal goal)
        : session_(std::move(session)), root_(std::move(root)), goal_(goal) {}

    /// Somebody of us is inside. Gives the marker.
    boost::asio::awaitable<std::string> enter(std::string role) {
        std::string prefix = root_ + "/inside/" + our_party + "-" + role + "-";
        create_options how;
        how.mode = create_mode::ephemeral_sequential;
        created_node created = co_await session_.create(prefix, std::string(), how);
        std::string marker = created.path;
        node_children listing = co_await session_.get_children(root_ + "/inside");
        bool writers = false;
        bool others = false;
        std::string all;
        for (const std::string& name : listing.names) {
            writers = writers || name.find("-write-") != std::string::npos;
            others = others || !name.starts_with(std::string(our_party) + "-");
            all += ' ' + name;
        }
        if (listing.names.size() > goal_.limit || (writers && listing.names.size() > 1)) {
            co_await violation(marker + " found" + all);
        }
        for (;;) {
            node_data page = co_await session_.get(root_ + "/turns");
            turns t = turns::parse(page.data);
            if (t.last != our_party)
                ++t.to_us;
            t.last = our_party;
            ++t.ours;
            if (others)
                ++t.together;
            std::string text = t.print();
            auto [ec, written] =
                co_await session_.set(root_ + "/turns", text, page.stat.version, as_tuple());
            if (!ec) {
                done_ = done_ || t.reached(goal_);
                break;
            }
            if (ec != zk_errc::bad_version)
                throw error(ec, "record", root_);
            if (role == "write") {
                co_await violation("somebody wrote while " + marker + " was inside");
            }
        }
        co_return marker;
    }

    boost::asio::awaitable<void> leave(std::string marker) { co_await session_.erase(marker); }

    boost::asio::awaitable<void> close() { co_await session_.close(as_tuple()); }

    /// Both parties have had their share.
    bool done() const { return done_; }

private:
    boost::asio::awaitable<void> violation(std::string what) {
        create_options how;
        how.mode = create_mode::persistent_sequential;
        std::string prefix = root_ + "/violations/v-";
        co_await session_.create(prefix, what, how);
    }

    client session_;
    std::string root_;
    contest_goal goal_;
    bool done_ = false;
};

}  // namespace corozk::testing
