// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison_run.hpp"

#include "contest_rows.hpp"
#include "table.hpp"

#include <exception>
#include <utility>

namespace corozk::bench {

comparison_run::comparison_run(
    job& j, client& observer, comparison& c, std::deque<contender>& peers, std::size_t repeat)
    : job_(j), observer_(observer), comparison_(c), repeat_(repeat), parts_(c.parts()) {
    add(bare, "bare C loop", nullptr);
    add(ours, "corozk", nullptr);
    for (contender& peer : peers) {
        if (peer.takes_part(c))
            add(std::string(peer.kind().name), peer.title(), &peer);
    }
}

boost::asio::awaitable<void> comparison_run::run() {
    for (std::size_t i = 0; i < repeat_; ++i) {
        for (compared& e : entries_) {
            if (e.failure.empty())
                co_await run_once(e);
        }
        // Once more at the end: what comes in between is compared with the mean of both.
        std::vector<result> again(parts_.size());
        comparison_.floor(job_, again);
        add_floors(again);
    }
    finish();
}

void comparison_run::add(std::string implementation, std::string title, contender* peer) {
    compared e;
    e.implementation = std::move(implementation);
    e.title = std::move(title);
    e.peer = peer;
    e.rows.resize(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        result& row = e.rows[i];
        comparison_.describe(row);
        row.set("implementation", e.implementation).set("title", e.title);
        if (!parts_[i].operation.empty())
            row.set("operation", parts_[i].operation);
        row.set("processes", 1).set("threads", 1).set("repeat", repeat_);
    }
    entries_.push_back(std::move(e));
}

boost::asio::awaitable<void> comparison_run::run_once(compared& e) {
    if (e.implementation == bare) {
        comparison_.floor(job_, e.rows);
    } else if (e.peer) {
        e.failure = co_await e.peer->run(job_, observer_, comparison_, e.rows);
        e.title = e.peer->title();
    } else {
        job_.on.shown().update("corozk: " + parts_.front().title);
        try {
            co_await comparison_.ours(job_, e.rows);
        } catch (const std::exception& problem) {
            e.failure = problem.what();
            job_.exit_code = 1;  // what fails of the others is in their rows
        }
    }
}

void comparison_run::add_floors(const std::vector<result>& again) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::string& key = parts_[i].key;
        double floor = (entries_.front().rows[i].last(key) + again[i].last(key)) / 2;
        const char* name = parts_[i].is_rate ? "floor_ops_per_s" : "floor_us.p50";
        for (compared& e : entries_) {
            result& row = e.rows[i];
            if (!e.failure.empty() || !row.has(key))
                continue;
            row.add(name, floor);
            row.add("floor_ratio", row.last(key) / floor);
            if (again[i].has(parts_[i].key_p99))
                row.add("floor_us.p99", again[i].last(parts_[i].key_p99));
        }
    }
}

/// How they did beside ours, and how they failed.
void comparison_run::finish() {
    const compared& mine = entries_[1];
    for (compared& e : entries_) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            result& row = e.rows[i];
            row.set("title", e.title);
            row.set("failure", e.failure);
            double theirs = row.median(parts_[i].key);
            double own = mine.rows[i].median(parts_[i].key);
            if (e.failure.empty() && theirs > 0 && own > 0)
                row.add("times_corozk", parts_[i].is_rate ? own / theirs : theirs / own);
        }
    }
}

std::string figure_with_spread(const comparison_part& part, const result& row) {
    if (!row.has(part.key))
        return "-";
    if (part.is_rate)
        return with_spread(row, part.key, count_text) + " /s";
    return with_spread(row, part.key, microseconds_text);
}

std::string cell(const result& row, const std::string& key, std::string (*text)(double)) {
    return row.has(key) ? text(row.median(key)) : std::string();
}

}  // namespace corozk::bench
