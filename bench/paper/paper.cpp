// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "compare/peer_kind.hpp"
#include "contest_rows.hpp"
#include "help.hpp"
#include "paper/experiment_kind.hpp"
#include "paper/experiments.hpp"
#include "systems/system_kind.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace corozk::bench {

namespace {

/// Those of one publication are played together.
boost::asio::awaitable<std::string> play(job& j, std::vector<std::string> names) {
    const std::string& name = names.front();
    if (name == "barrier_table")
        return play_barrier_table(j);
    if (name == "herd")
        return play_herd(j);
    if (name == "locks")
        return play_locks(j);
    return play_recipes(j, std::move(names));
}

boost::asio::awaitable<void> run_paper(job& j) {
    std::string output;
    for (auto names = j.wanted.experiments; !names.empty();) {
        const publication* by = find_experiment(names.front()).by;
        auto is_by = [by](const std::string& n) { return find_experiment(n).by == by; };
        std::vector<std::string> these;
        std::copy_if(names.begin(), names.end(), std::back_inserter(these), is_by);
        std::erase_if(names, is_by);
        std::string text = co_await play(j, std::move(these));
        output +=
            "\n" + text + "\n" + wrapped(std::string(by->reference) + ":") + wrapped(by->claim, 2);
    }
    j.output = heading(j) + output;
}

void check_paper(const settings& s) {
    if (s.experiments.empty())
        throw usage_error("--experiment names none");
    auto names = [](const auto& all, std::string_view name) {
        return std::find(all.begin(), all.end(), name) != all.end();
    };
    if (names(s.experiments, "barrier_table") && !names(s.implementations, "ours") &&
        !names(s.implementations, "textbook"))
        throw usage_error("--implementation: of barrier_table it is textbook or ours");
    if (!std::is_sorted(s.clients.begin(), s.clients.end()))
        throw usage_error("--clients must be in ascending order: the table shows how figures grow");
}

void defaults_of_paper(settings& s) {
    s.experiments = {"barrier_table"};
    s.members = {50, 100, 200};
    s.barriers = {200, 400, 800, 1'600};
    s.implementations = {"textbook", "ours"};
    s.clients = {1, 5, 10, 20, 50};
    s.operations = 1'000;
    s.peers = {"curator"};
    for (const system_kind& k : all_systems())
        s.systems.emplace_back(k.name);
    s.repeat = 1;
}

}  // namespace

command paper_command() {
    return command{
        "paper",
        "published experiments, repeated: barriers, counters, queues, locks",
        "--experiment barrier_table is section 5.3 of \"ZooKeeper: Wait-free coordination for "
        "Internet-scale systems\" (USENIX ATC 2010): each of --members clients, in a session of "
        "its own, enters --barriers double barriers one after the other, and then leaves them. "
        "Shown is the average time for a client to finish, compared with the paper's table 3, by "
        "the recipes page's double barrier (textbook) and by corozk's; up to half an hour. "
        "counter, queue, barrier and election are the recipes of \"Extensible Distributed "
        "Coordination\" (EuroSys 2015) with increasing numbers of --clients, by corozk and by "
        "Curator (--peers). herd counts the requests and notifications that \"Addressing the "
        "ZooKeeper Synchronization Inefficiency\" (ICDCN 2013) is about: at a queue, a double "
        "barrier, and a lock. locks is how long clients wait for corozk's lock, and for those of "
        "other systems (--systems) and libraries (--peers), after Grzesik and Mrozek (2019). "
        "Published figures are shown if they could be checked; the text below each table says "
        "which. They are from other machines: compare the ratios of what runs here, and how "
        "figures grow.",
        {"--experiment",
         "--clients",
         "--operations",
         "--peers",
         "--systems",
         "--deadline",
         "--members",
         "--barriers",
         "--implementation"},
        defaults_of_paper,
        run_paper,
        check_paper};
}

}  // namespace corozk::bench
