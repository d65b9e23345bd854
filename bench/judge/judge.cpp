// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "interruption.hpp"
#include "judge/trial.hpp"
#include "operation/path.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace corozk::bench {

namespace {

constexpr std::size_t least_floor_samples = 50;

/// Why the file cannot be started; "" if it can.
std::string_view fault_of_program(const std::filesystem::path& file) {
    std::error_code none;
    auto kind = std::filesystem::status(file, none).type();
    if (kind == std::filesystem::file_type::not_found)
        return "there is no such program";
    if (kind == std::filesystem::file_type::directory)
        return "it is a folder";
    if (::access(file.c_str(), X_OK) != 0)
        return std::filesystem::exists(file, none) ? "it is not executable"
                                                   : "it cannot be reached";
    return kind == std::filesystem::file_type::regular ? "" : "it is not a program";
}

/// The same of a program in PATH, if there is no slash in its name.
std::string_view fault_of_command(const std::string& program) {
    if (program.find('/') != program.npos)
        return fault_of_program(program);
    constexpr std::string_view missing = "there is no such program in PATH";
    std::string_view fault = missing;
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "/usr/bin:/bin";
    for (;;) {
        auto colon = rest.find(':');
        auto its = fault_of_program(std::filesystem::path(rest.substr(0, colon)) / program);
        if (its.empty())
            return its;
        if (its == "it is not executable")
            fault = "what PATH has by that name is not executable";
        if (colon == rest.npos)
            return fault;
        rest.remove_prefix(colon + 1);
    }
}

void check_judge(const settings& s) {
    if (s.judged_command.empty())
        throw usage_error(
            "which program? It comes last, after --: corozk-bench judge [OPTIONS] -- COMMAND "
            "[ARGUMENT...]");
    const std::string& program = s.judged_command.front();
    if (auto fault = fault_of_command(program); !fault.empty())
        throw usage_error(fmt::format("cannot start '{}': {}", program, fault));
    bool semaphore =
        std::any_of(s.limits.begin(), s.limits.end(), [](std::size_t limit) { return limit > 1; });
    if (s.fair && semaphore)
        throw usage_error(
            "--fair: the holders of a semaphore may speak in any order, so that there is no "
            "order to judge with --limit 2 or more");
}

std::string name_of(const settings& s) {
    if (!s.judged_name.empty())
        return s.judged_name;
    // What tells two programs apart is at the end of their paths, and in their last arguments.
    constexpr std::size_t most = 40;
    constexpr std::size_t begin = 20;
    std::vector<std::string> words = s.judged_command;
    words.front() = std::filesystem::path(words.front()).filename();
    std::string all = corozk::detail::printable(fmt::format("{}", fmt::join(words, " ")));
    return all.size() > most
               ? all.substr(0, begin) + "..." + all.substr(all.size() - (most - begin - 3))
               : all;
}

void add_row(table& t, const result& row) {
    t.add({std::string(row.text("implementation")),
           count_text(row.number("waiters")),
           count_text(row.number("limit")),
           only_if(row, "handovers", count_text),
           only_if(row, "handover_us.p50", microseconds_text),
           only_if(row, "handover_us.p99", microseconds_text),
           only_if(row, "floor_ratio", ratio_text),
           only_if(row, "requests_per_handover", figure_text),
           only_if(row, "notifications_per_handover", figure_text),
           only_if(row, "bytes_per_handover", bytes_text),
           only_if(row, "takeover_us.p50", microseconds_text),
           count_text(row.most("most_holders")),
           count_text(row.most("overtakings")),
           std::string(row.text("verdict"))});
}

/// Whether each release wakes a good part of those who wait; on average, half of them still do.
bool is_herd(const result& row) {
    constexpr double few = 5;
    double woken = row.median("notifications_per_handover");
    return woken >= few && woken * 4 >= row.number("waiters");
}

/// What is said of the rounds of one row.
struct judgement {
    explicit judgement(std::size_t n) : waiters(n) {}

    void remark(std::string_view text) {
        remarks += fmt::format("{}: {}\n", counted(waiters, "waiter"), text);
    }
    void blame(const std::string& text) {
        remark(text);
        if (failure.empty())
            failure = text;
    }
    void add_to(result& row, std::string_view good) {
        if (!not_judged.empty()) {
            row.set("not_judged", not_judged);
            remark("not judged: " + not_judged);
        }
        if (!failure.empty())
            row.set("failure", failure);
        row.set("verdict", !failure.empty() ? "WRONG" : !not_judged.empty() ? "not judged" : good);
    }
    int exit_code() const { return !failure.empty() ? wrong : !not_judged.empty() ? unknown : 0; }

    static constexpr int wrong = 1;
    static constexpr int unknown = 2;

    std::size_t waiters;
    std::string failure;     ///< the first fault
    std::string not_judged;  ///< why; faults that were found before count all the same
    std::string remarks;
};

/// Of two rows: a fault counts, whatever else could not be judged.
int worse(int a, int b) {
    return a == judgement::wrong || b == judgement::wrong ? judgement::wrong : std::max(a, b);
}

boost::asio::awaitable<result> judge_row(job& j, const trial_setup& setup, std::string& remarks) {
    result row;
    row.set("implementation", name_of(j.wanted)).set("title", name_of(j.wanted));
    row.set("recipe", setup.limit == 1 ? "lock" : "semaphore");
    row.set("waiters", setup.waiters).set("sessions", setup.waiters);
    row.set("processes", setup.waiters + setup.limit).set("limit", setup.limit);
    row.set("kills", j.wanted.kills).set("repeat", j.wanted.repeat);
    judgement its(setup.waiters);
    for (std::size_t i = 0; i < j.wanted.repeat && its.not_judged.empty(); ++i) {
        trial round(j, setup);
        try {
            // Who wants a short warm-up does not want a long floor either.
            auto floor =
                j.on.floor(std::clamp(j.wanted.warm_up, least_floor_samples, floor_samples));
            co_await round.run(row);
            stage::add_floor(
                row, floor, round.judgement().handovers().empty() ? "" : "handover_us.p50");
            if (round.handed_over() == 0)
                its.not_judged =
                    round.judgement().passed_on() == 0
                        ? "the lock was never handed over"
                        : "the lock was handed over before any process had been told to release "
                          "it: --hold own is for processes that decide themselves";
        } catch (const protocol_error& e) {
            its.not_judged = e.what();
        } catch (const interrupted&) {
            throw;
        } catch (const std::runtime_error& e) {  // the servers may have failed
            its.not_judged = e.what();
        }
        for (const auto& text : round.judgement().fault_texts())
            its.blame(text);
        if (round.kills() < j.wanted.kills && its.not_judged.empty())
            its.remark(fmt::format("{} of {} holders were killed: then no process was waiting",
                                   round.kills(),
                                   j.wanted.kills));
    }
    bool known = row.has("notifications_per_handover");
    row.set("herd", !known ? "unknown" : is_herd(row) ? "yes" : "no");
    if (is_herd(row))
        its.remark(fmt::format("a herd: {} watch events for each hand-over",
                               figure_text(row.median("notifications_per_handover"))));
    // One waiter has nobody to overtake.
    bool order_unknown = j.wanted.fair && row.least("comparable") == 0;
    if (order_unknown && setup.waiters > 1 && its.not_judged.empty())
        its.not_judged = "the order of arrival of the waiters is unknown";
    its.add_to(row, order_unknown ? "order not judged" : "correct");
    remarks += its.remarks;
    j.exit_code = worse(j.exit_code, its.exit_code());
    co_return row;
}

boost::asio::awaitable<void> run_judge(job& j) {
    table t({"",
             "waiters",
             "limit",
             "hand-overs",
             "p50",
             "p99",
             "p50/floor",
             "req/h.o.",
             "events/h.o.",
             "bytes/h.o.",
             "after a kill",
             "at once",
             "overtaken",
             "verdict"});
    std::string remarks;
    for (std::size_t limit : j.wanted.limits) {
        for (std::size_t waiters : j.wanted.waiters) {
            trial_setup setup;
            setup.waiters = waiters;
            setup.limit = limit;
            result row = co_await judge_row(j, setup, remarks);
            add_row(t, row);
            j.results.push_back(std::move(row));
        }
    }
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\nfloor: one session's delete to another session's watch event, bare C client, measured "
        "before each round\nhand-over: from telling the holder to release to the next one's "
        "'holding', as seen from outside: it includes two pipes\nreq, events, bytes/h.o.: by the "
        "server's own count, everything that happened during the hand-overs (mntr, which the "
        "servers must allow; empty if one did not answer, or began to count anew)\nat once: how "
        "many held it at the same time; overtaken: how often a "
        "process got it before others that had queued at least 0.5 s earlier\n";
    if (!remarks.empty())
        j.output += "\n" + remarks;
}

void defaults_of_judge(settings& s) {
    s.waiters = {1, 10};
    s.limits = {1};
    s.repeat = 1;
    s.session_timeout = std::chrono::milliseconds(10'000);
}

}  // namespace

command judge_command() {
    return command{
        "judge",
        "a lock or semaphore in any language: is it correct, and what does it cost?",
        "Starts processes of COMMAND, each a contender for one lock. Each writes words to its "
        "standard output, one per line and flushed: 'waiting' before it requests the lock, "
        "'holding' when it has it, and 'released' when it has released it, which it does when it "
        "reads 'release' from its standard input. bench/judge/README.md has the complete protocol, "
        "with examples in Python, Java and shell. The address and other parameters of a process "
        "are in its environment: COROZK_BENCH_HOSTS, COROZK_BENCH_PATH (a path that does not exist "
        "yet), COROZK_BENCH_NUMBER, COROZK_BENCH_LIMIT, COROZK_BENCH_SESSION_TIMEOUT_MS. One "
        "process (of a semaphore, as many as the limit) holds it until N others have queued; then "
        "it is handed over N times. The verdict covers exclusion: never more holders than the "
        "limit, and fencing tokens of a lock grow, if they are reported; order (--fair: the next "
        "waiter then starts when the one before has certainly queued, --queued-after later if it "
        "does not write 'queued'); stalls: as long as a process waits, some process takes the lock "
        "(--stall; with --hold own even while it is held); deaths: no process ends while it waits "
        "or holds, or before it has written 'released' after it was told to release, except those "
        "that are killed (--kill). A herd is not a fault, but is reported: watch events for each "
        "hand-over of at least a quarter of the waiters. The exit code is 0 if all is correct, 1 "
        "if the recipe is wrong, 2 if it cannot be judged: no such program, it is not executable, "
        "it violates the protocol, it ends before its first word, the lock was never handed over, "
        "the servers fail. Faults that were found before count.",
        {"--waiters",
         "--limit",
         "--hold",
         "--stall",
         "--kill",
         "--fair",
         "--queued-after",
         "--name",
         "--deadline",
         "--"},
        defaults_of_judge,
        run_judge,
        check_judge,
        judgement::unknown};
}

}  // namespace corozk::bench
