// SPDX-License-Identifier: Apache-2.0
#include "contest_rows.hpp"

#include "facts.hpp"
#include "table.hpp"

#include <fmt/format.h>

namespace corozk::bench {

boost::asio::awaitable<result> repeat_contest(job& j, contest_setup setup) {
    result row;
    row.set("implementation", setup.implementation).set("recipe", setup.recipe);
    row.set("waiters", setup.waiters)
        .set("sessions", setup.sessions)
        .set("processes", setup.processes);
    if (setup.locks > 1)
        row.set("locks", setup.locks);
    if (setup.recipe == "shared_lock")
        row.set("readers_per_writer", setup.readers);
    if (setup.recipe == "semaphore")
        row.set("limit", setup.limit);
    row.set("repeat", j.wanted.repeat);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i)
        co_await run_contest(j.on, setup, row);
    co_return row;
}

std::string with_spread(const result& r, std::string_view key, std::string (*text)(double)) {
    std::string middle = text(r.median(key));
    std::string least = text(r.least(key));
    std::string most = text(r.most(key));
    if (least == most)
        return middle;
    return fmt::format("{} ({} .. {})", middle, least, most);
}

std::string only_if(const result& r, std::string_view key, std::string (*text)(double)) {
    return r.has(key) ? text(r.median(key)) : "";
}

std::string heading(const job& j) {
    return fmt::format("{}\n{}\n", j.on.description(), machine_line());
}

}  // namespace corozk::bench
