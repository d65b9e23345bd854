// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "compare/comparison.hpp"
#include "compare/contender.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace corozk::bench {

namespace {

constexpr const char* ours = "ours";
constexpr const char* bare = "c_client";

/// All rows of one implementation in one comparison.
struct entry {
    std::string implementation;
    std::string title;
    contender* peer = nullptr;
    std::vector<result> rows;
    std::string failure;
};

/// A comparison, all repetitions of it.
class comparison_run {
public:
    comparison_run(job& j, client& observer, comparison& c, std::deque<contender>& peers)
        : job_(j), observer_(observer), comparison_(c), parts_(c.parts()) {
        add(bare, "bare C loop", nullptr);
        add(ours, "corozk", nullptr);
        for (contender& peer : peers) {
            if (peer.takes_part(c))
                add(std::string(peer.kind().name), peer.title(), &peer);
        }
    }

    boost::asio::awaitable<void> run() {
        for (std::size_t i = 0; i < job_.wanted.repeat; ++i) {
            for (entry& e : entries_) {
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

    const std::vector<comparison_part>& parts() const { return parts_; }
    std::vector<entry>& entries() { return entries_; }

private:
    void add(std::string implementation, std::string title, contender* peer) {
        entry e;
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
            row.set("processes", 1).set("threads", 1).set("repeat", job_.wanted.repeat);
        }
        entries_.push_back(std::move(e));
    }

    boost::asio::awaitable<void> run_once(entry& e) {
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
            }
        }
    }

    void add_floors(const std::vector<result>& again) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const std::string& key = parts_[i].key;
            double floor = (entries_.front().rows[i].last(key) + again[i].last(key)) / 2;
            const char* name = parts_[i].is_rate ? "floor_ops_per_s" : "floor_us.p50";
            for (entry& e : entries_) {
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
    void finish() {
        const entry& mine = entries_[1];
        for (entry& e : entries_) {
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

    job& job_;
    client& observer_;
    comparison& comparison_;
    std::vector<comparison_part> parts_;
    std::vector<entry> entries_;
};

std::string figure(const comparison_part& part, const result& row) {
    double value = row.median(part.key);
    return part.is_rate ? count_text(value) + "/s" : microseconds_text(value);
}

/// With the spread over the repetitions, if there is one.
std::string figure_with_spread(const comparison_part& part, const result& row) {
    if (part.is_rate)
        return with_spread(row, part.key, count_text) + " /s";
    return with_spread(row, part.key, microseconds_text);
}

std::string cell(const result& row, const std::string& key, std::string (*text)(double)) {
    return row.has(key) ? text(row.median(key)) : std::string();
}

std::string cpu_text(double microseconds) {
    return figure_text(microseconds) + " us";
}

/// Everything about each of them.
class detail_table {
public:
    detail_table()
        : table_({"",
                  "",
                  "p99",
                  "slower than corozk",
                  "/ floor",
                  "queue",
                  "requests",
                  "events",
                  "bytes",
                  "threads",
                  "memory",
                  "client CPU",
                  "server CPU"}) {}

    void add(const comparison_part& part, std::size_t index, std::vector<entry>& entries) {
        table_.add({part.title});
        for (entry& e : entries) {
            const result& row = e.rows[index];
            if (!e.failure.empty()) {
                table_.add({"  " + e.title, "fails"});
                remarks_ += fmt::format("{}: {} fails: {}\n", part.title, e.title, e.failure);
                continue;
            }
            auto per = [&](const char* what) { return fmt::format("{}_per_{}", what, part.per); };
            bool is_bare = e.implementation == bare;
            table_.add(
                {"  " + e.title,
                 figure_with_spread(part, row),
                 part.key_p99.empty() ? "" : cell(row, part.key_p99, microseconds_text),
                 e.implementation == ours || is_bare ? "" : cell(row, "times_corozk", ratio_text),
                 is_bare ? "" : cell(row, "floor_ratio", ratio_text),
                 cell(row, "queue_s", seconds_text),
                 cell(row, per("requests"), figure_text),
                 cell(row, per("notifications"), figure_text),
                 cell(row, per("bytes"), bytes_text),
                 is_bare ? "1" : count_text(row.number("threads")),
                 cell(row, "memory_per_waiter_bytes", bytes_text),
                 cell(row, per("client_cpu_us"), cpu_text),
                 cell(row, per("server_cpu_us"), cpu_text)});
        }
    }

    std::string str() const { return table_.str() + (remarks_.empty() ? "" : "\n" + remarks_); }

private:
    table table_;
    std::string remarks_;
};

/// One line for each piece of work.
class summary_table {
public:
    explicit summary_table(const std::deque<contender>& peers) {
        std::vector<std::string> head{"", "bare C loop", "corozk"};
        for (const contender& peer : peers) {
            names_.emplace_back(peer.kind().name);
            head.emplace_back(peer.kind().title);
        }
        table_.emplace(std::move(head));
    }

    void add(const comparison_part& part, std::size_t index, std::vector<entry>& entries) {
        std::vector<std::string> line{part.title};
        for (std::size_t i = 0; i < 2; ++i)
            line.push_back(entries[i].failure.empty() ? figure(part, entries[i].rows[index])
                                                      : "fails");
        for (const auto& name : names_) {
            auto at = std::find_if(entries.begin(), entries.end(), [&](const entry& e) {
                return e.implementation == name;
            });
            if (at == entries.end()) {
                line.emplace_back("-");
            } else if (!at->failure.empty()) {
                line.emplace_back("fails");
            } else {
                const result& row = at->rows[index];
                line.push_back(fmt::format(
                    "{} ({})", figure(part, row), ratio_text(row.median("times_corozk"))));
            }
        }
        table_->add(std::move(line));
    }

    std::string str() const { return table_->str(); }

private:
    std::vector<std::string> names_;
    std::optional<table> table_;
};

comparison_sizes sizes_for(const settings& s) {
    comparison_sizes sizes;
    sizes.waiters = s.waiters;
    sizes.most = s.behind;
    sizes.sessions = s.sessions;
    sizes.items = s.items;
    sizes.acknowledged_items = std::max<std::size_t>(s.items / 5, 10);
    sizes.operations = s.operations;
    sizes.members = s.members.front();
    return sizes;
}

/// Those that are wanted and installed; `remarks` says what is missing.
std::deque<contender> find_contenders(job& j, std::string& remarks) {
    std::deque<contender> peers;
    for (const auto& name : j.wanted.peers) {
        const peer_kind& kind = find_peer(name);
        j.on.shown().update(fmt::format("looking for {}", kind.title));
        auto program = prepare_peer(kind);
        if (program.missing.empty()) {
            peers.emplace_back(kind, std::move(program));
        } else {
            remarks += fmt::format("{}: {}\n", kind.title, program.missing);
            j.on.shown().note(fmt::format("without {}: {}", kind.title, program.missing));
        }
    }
    return peers;
}

bool is_wanted(const comparison& c, const std::string& only) {
    auto parts = c.parts();
    return std::any_of(parts.begin(), parts.end(), [&](const comparison_part& p) {
        return p.title.find(only) != std::string::npos;
    });
}

}  // namespace

boost::asio::awaitable<void> run_compare(job& j) {
    std::string missing;
    auto peers = find_contenders(j, missing);
    auto observers = co_await j.on.connect(1);
    detail_table details;
    summary_table summary(peers);
    bool any = false;
    for (auto& c : all_comparisons(sizes_for(j.wanted))) {
        if (!is_wanted(*c, j.wanted.only))
            continue;
        any = true;
        comparison_run run(j, observers.front(), *c, peers);
        co_await run.run();
        for (std::size_t i = 0; i < run.parts().size(); ++i) {
            details.add(run.parts()[i], i, run.entries());
            summary.add(run.parts()[i], i, run.entries());
        }
        for (entry& e : run.entries()) {
            for (result& row : e.rows)
                j.results.push_back(std::move(row));
        }
    }
    if (!any)
        throw std::runtime_error("--only: no comparison is named like that");
    for (const contender& peer : peers)
        j.facts[fmt::format("{}_version", peer.kind().name)] = boost::json::string(peer.version());
    co_await stage::close(observers);
    j.output = heading(j) + "\n" + details.str() + "\n" + summary.str();
    j.output +=
        "\nmedians (least .. most) over the repetitions, in which all take turns; in brackets: how "
        "many times slower than corozk\nbare C loop: the least that the C client and the server "
        "need: delete -> event at another session; create + delete; creates or deletes, 1,000 on "
        "their way at a time; conditional sets; a listing\nrequests, events, bytes, CPU: for each "
        "hand-over, cycle, item, addition or member; for the peers by the server's count\nmemory: "
        "for each waiter; of Java without what its heap has free after a collection\n";
    if (!missing.empty())
        j.output += "missing:\n" + missing;
}

}  // namespace corozk::bench
