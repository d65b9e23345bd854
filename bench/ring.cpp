// SPDX-License-Identifier: Apache-2.0
#include "ring.hpp"

#include "contest.hpp"
#include "contest_rows.hpp"
#include "raw_ring.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace corozk::bench {

namespace {

struct form_row {
    raw_ring::form form;
    const char* title;
    std::size_t requests;
};

// The first one is what all are compared with.
constexpr std::array forms{
    form_row{raw_ring::form::erase, "delete -> event", 1},
    form_row{raw_ring::form::check_erase, "check + delete -> event", 1},
    form_row{raw_ring::form::announce, "check + create + delete + delete -> event", 1},
    form_row{raw_ring::form::announce_watch, "the same, then get and exists with watches", 3},
};

void add_round(result& row, const latencies& times, double floor) {
    row.add("handover_us.p50", times.p50()).add("handover_us.p99", times.p99());
    row.add("floor_us.p50", floor).add("floor_ratio", times.p50() / floor);
}

std::vector<result> empty_rows(const settings& wanted) {
    std::vector<result> rows(forms.size() + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        bool bare = i < forms.size();
        rows[i].set("implementation", bare ? "c_client" : "ours");
        rows[i].set("operation", bare ? forms[i].title : "a lock's release -> acquire");
        rows[i].set("sessions", wanted.sessions).set("handovers", wanted.operations);
        rows[i].set("processes", 1).set("threads", 1).set("repeat", wanted.repeat);
    }
    return rows;
}

}  // namespace

boost::asio::awaitable<std::vector<result>> measure_ring(job& j) {
    std::vector<result> rows = empty_rows(j.wanted);
    contest_setup lock("ours", j.wanted.operations);
    lock.sessions = std::min(j.wanted.sessions, j.wanted.operations);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        double floor = 0;
        {
            auto ring = j.on.ring(j.wanted.sessions);
            for (std::size_t k = 0; k < forms.size(); ++k) {
                latencies times = ring->pass_on(forms[k].form, j.wanted.operations);
                if (k == 0)
                    floor = times.p50();
                add_round(rows[k], times, floor);
                rows[k].add("requests_per_handover", static_cast<double>(forms[k].requests));
            }
        }
        result& ours = rows.back();
        co_await run_bare_contest(j.on, lock, ours);
        ours.add("floor_us.p50", floor);
        ours.add("floor_ratio", ours.last("handover_us.p50") / floor);
    }
    co_return rows;
}

std::string ring_table(const std::vector<result>& rows) {
    std::string sessions = count_text(rows.front().number("sessions"));
    table t({fmt::format("a token, passed around {} sessions", sessions),
             "p50",
             "p99",
             "requests",
             "/ delete -> event"});
    for (const result& row : rows) {
        bool bare = row.text("implementation") == "c_client";
        t.add({fmt::format("{}: {}", bare ? "C client" : "corozk", row.text("operation")),
               with_spread(row, "handover_us.p50", microseconds_text),
               microseconds_text(row.median("handover_us.p99")),
               figure_text(row.median("requests_per_handover")),
               with_spread(row, "floor_ratio", ratio_text)});
    }
    return t.str();
}

}  // namespace corozk::bench
