// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "compare/comparison.hpp"
#include "compare/comparison_run.hpp"
#include "compare/contender.hpp"
#include "compare/round_trips.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

namespace corozk::bench {

namespace {

std::string figure(const comparison_part& part, const result& row) {
    if (!row.has(part.key))
        return "-";
    double value = row.median(part.key);
    return part.is_rate ? count_text(value) + "/s" : microseconds_text(value);
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
                  "round trips",
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

    void add(const comparison_part& part, std::size_t index, std::vector<compared>& entries) {
        table_.add({part.title});
        for (compared& e : entries) {
            const result& row = e.rows[index];
            if (!e.failure.empty()) {
                table_.add({"  " + e.title, "fails"});
                remarks_ += fmt::format("{}: {} fails: {}\n", part.title, e.title, e.failure);
                continue;
            }
            auto per = [&](const char* what) { return fmt::format("{}_per_{}", what, part.per); };
            bool is_bare = e.implementation == comparison_run::bare;
            table_.add({"  " + e.title,
                        figure_with_spread(part, row),
                        part.key_p99.empty() ? "" : cell(row, part.key_p99, microseconds_text),
                        cell(row, "round_trips", figure_text),
                        e.implementation == comparison_run::ours || is_bare
                            ? ""
                            : cell(row, "times_corozk", ratio_text),
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

    void add(const comparison_part& part, std::size_t index, std::vector<compared>& entries) {
        std::vector<std::string> line{part.title};
        for (std::size_t i = 0; i < 2; ++i)
            line.push_back(entries[i].failure.empty() ? figure(part, entries[i].rows[index])
                                                      : "fails");
        for (const auto& name : names_) {
            auto at = std::find_if(entries.begin(), entries.end(), [&](const compared& e) {
                return e.implementation == name;
            });
            if (at == entries.end()) {
                line.emplace_back("-");
            } else if (!at->failure.empty()) {
                line.emplace_back("fails");
            } else {
                const result& row = at->rows[index];
                std::string text = figure(part, row);
                if (row.has("times_corozk"))
                    text += fmt::format(" ({})", ratio_text(row.median("times_corozk")));
                line.push_back(std::move(text));
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

/// One repetition, for its times only.
boost::asio::awaitable<operation_times> time_once(job& j,
                                                  client& observer,
                                                  comparison& few,
                                                  std::deque<contender>& peers) {
    comparison_run run(j, observer, few, peers, 1);
    co_await run.run();
    co_return times_of(run.parts(), run.entries());
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
    client& observer = observers.front();
    comparison_sizes sizes = sizes_for(j.wanted);
    auto all = all_comparisons(sizes);
    sizes.at_most = few_operations;
    auto few = all_comparisons(sizes);
    std::vector<std::size_t> wanted;
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (is_wanted(*all[n], j.wanted.only))
            wanted.push_back(n);
    }
    if (wanted.empty())
        throw std::runtime_error("--only: no comparison has such a name");

    // Those that differ only in numbers are the same with few operations.
    auto few_of = [&few](std::size_t n) { return few[n]->parts().front().title; };
    std::map<std::string, operation_times> far;
    std::map<std::string, operation_times> near;
    if (j.on.owns_servers()) {
        j.on.move_away(distance);
        for (std::size_t n : wanted) {
            if (auto& times = far[few_of(n)]; times.empty())
                times = co_await time_once(j, observer, *few[n], peers);
        }
        for (contender& peer : peers)
            peer.stop();
        j.on.move_back();
    }

    detail_table details;
    summary_table summary(peers);
    for (std::size_t n : wanted) {
        comparison_run run(j, observer, *all[n], peers, j.wanted.repeat);
        co_await run.run();
        if (j.on.owns_servers()) {
            auto& times = near[few_of(n)];
            if (times.empty())
                times = co_await time_once(j, observer, *few[n], peers);
            add_round_trips(run.entries(), times, far[few_of(n)]);
        }
        for (std::size_t i = 0; i < run.parts().size(); ++i) {
            details.add(run.parts()[i], i, run.entries());
            summary.add(run.parts()[i], i, run.entries());
        }
        for (compared& e : run.entries()) {
            // Who fails at few operations only, to have its round trips counted, has a row all the same.
            if (e.peer && !e.failure.empty())
                e.peer->give_up(*all[n]);
            for (result& row : e.rows)
                j.results.push_back(std::move(row));
        }
    }
    note_versions(j, peers);
    co_await stage::close(observers);
    j.output = heading(j) + "\n" + details.str() + "\n" + summary.str();
    j.output +=
        "\nmedians (least .. most) over the repetitions, in each of which all are measured in "
        "turn; in brackets: how many times slower than corozk\nbare C loop: the minimum that the C "
        "client and the server need: delete -> event in another session; create + delete; creates "
        "or deletes, 1,000 in flight at a time; conditional sets; a listing\nround trips: how "
        "often an operation waits for the server: what it takes longer if every response is 5 ms "
        "later, in units of 5 ms (at most 50 operations; those that share a round trip have a part "
        "of it each)\nrequests, events, bytes, CPU: for each hand-over, cycle, item, addition or "
        "member; for the peers by the server's count\nmemory: for each waiter; of Java without "
        "what its heap has free after a collection\n";
    if (!missing.empty())
        j.output += "missing:\n" + missing;
}

}  // namespace corozk::bench
