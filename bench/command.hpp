// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "settings.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What a command works with, and where its results go.
struct job {
    job(const settings& s, stage& st) : wanted(s), on(st) {}

    const settings& wanted;
    stage& on;
    std::vector<result> results;
    boost::json::object facts;  ///< about the run, besides what is known of every run
    std::string output;         ///< the table and what else is to be said at the end
    int exit_code = 0;
};

/// A subcommand of corozk-bench.
struct command {
    std::string_view name;
    std::string_view summary;
    std::string_view details;  ///< what it measures and how to read it
    std::vector<std::string_view> options;
    void (*defaults)(settings&);
    boost::asio::awaitable<void> (*run)(job&);
    /// Throws a usage_error if the options make no sense together, before anything is started.
    void (*check)(const settings&) = nullptr;
    int failure = 1;  ///< the exit code if it could not do its work
};

std::span<const command> all_commands();

command demo_command();
command judge_command();
command paper_command();
command watch_command();
command safety_command();
command sizing_command();
command systems_command();

boost::asio::awaitable<void> run_floor(job& j);
boost::asio::awaitable<void> run_handover(job& j);
boost::asio::awaitable<void> run_herd(job& j);
boost::asio::awaitable<void> run_endure(job& j);
void check_endure(const settings& s);
boost::asio::awaitable<void> run_load(job& j);
void check_load(const settings& s);
boost::asio::awaitable<void> run_uncontended(job& j);
boost::asio::awaitable<void> run_ops(job& j);
boost::asio::awaitable<void> run_network(job& j);
boost::asio::awaitable<void> run_many(job& j);
boost::asio::awaitable<void> run_stall(job& j);
boost::asio::awaitable<void> run_queue(job& j);
boost::asio::awaitable<void> run_counter(job& j);
boost::asio::awaitable<void> run_two_phase_commit(job& j);
boost::asio::awaitable<void> run_barrier(job& j);
boost::asio::awaitable<void> run_cache(job& j);
boost::asio::awaitable<void> run_semaphore(job& j);
boost::asio::awaitable<void> run_compare(job& j);
boost::asio::awaitable<void> run_report(job& j);

}  // namespace corozk::bench
