// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include "compare/peer_kind.hpp"
#include "contest.hpp"
#include "host_list.hpp"
#include "operation/path.hpp"
#include "paper/experiment_kind.hpp"
#include "safety/fault.hpp"
#include "systems/system_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <span>

namespace corozk::bench {

namespace {

/// "5000", "10k", "1M".
std::size_t to_number(std::string_view text, std::size_t least, std::size_t most) {
    std::string_view digits = text;
    std::size_t factor = 1;
    if (!digits.empty() && (digits.back() == 'k' || digits.back() == 'K'))
        factor = 1'000;
    if (!digits.empty() && digits.back() == 'M')
        factor = 1'000'000;
    if (factor != 1)
        digits.remove_suffix(1);
    std::size_t number = 0;
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc() || end != digits.data() + digits.size() || number > most / factor ||
        number * factor < least) {
        throw usage_error(fmt::format(
            "'{}' is not a number from {} to {} (such as 5000, 10k or 1M)", text, least, most));
    }
    return number * factor;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        auto comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        if (comma == text.npos)
            return parts;
        text.remove_prefix(comma + 1);
    }
}

constexpr std::size_t million = 1'000'000;

std::vector<std::size_t> to_numbers(std::string_view text, std::size_t least, std::size_t most) {
    std::vector<std::size_t> numbers;
    for (auto part : split(text))
        numbers.push_back(to_number(part, least, most));
    return numbers;
}

std::vector<std::string_view> recipe_names() {
    auto all = all_recipes();
    std::vector<std::string_view> names(all.begin(), all.end());
    names.emplace_back("all");
    return names;
}

std::vector<std::string_view> implementation_names() {
    return {"ours", "textbook", "herd"};
}

/// Of kinds that have names.
template <auto kinds>
std::vector<std::string_view> names_of() {
    std::vector<std::string_view> names;
    for (const auto& kind : kinds())
        names.push_back(kind.name);
    names.insert(names.end(), {"all", "none"});
    return names;
}

/// A name that was given twice means no more than once.
void want(std::vector<std::string>& wanted, std::string_view name) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end())
        wanted.emplace_back(name);
}

std::vector<std::string> to_recipes(std::string_view text) {
    std::vector<std::string> wanted;
    auto all = all_recipes();
    for (auto part : split(text)) {
        if (part == "all") {
            for (auto recipe : all)
                want(wanted, recipe);
            continue;
        }
        if (std::find(all.begin(), all.end(), part) == all.end()) {
            throw usage_error(fmt::format("'{}' is not {} or all", part, fmt::join(all, ", ")));
        }
        want(wanted, part);
    }
    return wanted;
}

/// Of kinds that have names; all of them, some, or none.
template <class Kind>
std::vector<std::string> to_names(std::string_view text, std::span<const Kind> kinds) {
    std::vector<std::string_view> names;
    for (const Kind& kind : kinds)
        names.push_back(kind.name);
    std::vector<std::string> wanted;
    for (auto part : split(text)) {
        if (part == "none")
            continue;
        if (part == "all") {
            for (auto name : names)
                want(wanted, name);
        } else if (std::find(names.begin(), names.end(), part) == names.end()) {
            throw usage_error(
                fmt::format("'{}' is not {}, all or none", part, fmt::join(names, ", ")));
        } else {
            want(wanted, part);
        }
    }
    return wanted;
}

constexpr std::array options{
    option{"--hosts",
           "LIST",
           "existing servers, as HOST:PORT[,HOST:PORT...]; nodes are created below /corozk-bench-* "
           "and removed at the end",
           [](settings& s, std::string_view v) {
               if (v.empty())
                   throw usage_error("it needs at least one HOST:PORT");
               s.hosts = v;
           }},
    option{"--servers",
           "1|3",
           "how many servers to start (default 1)",
           [](settings& s, std::string_view v) {
               if (v != "1" && v != "3")
                   throw usage_error(fmt::format("'{}' is not 1 or 3", v));
               s.servers = v == "1" ? 1 : 3;
           }},
    option{"--observers",
           "N",
           "with --servers 3: the number of observers, further servers without a vote (default 0)",
           [](settings& s, std::string_view v) { s.observers = to_number(v, 0, 20); }},
    option{"--lag",
           "MS",
           "with --servers 3: delays everything that the leader sends to one follower by this many "
           "milliseconds (default 0). This follower is the first server, which never leads. "
           "Sessions are spread over all servers, including that one; those of the bare C client, "
           "and hence the floor, use another one",
           [](settings& s, std::string_view v) {
               s.lag = std::chrono::milliseconds(to_number(v, 0, 2'000));
           }},
    option{"--data",
           "memory|disk",
           "where the started server keeps its data: in memory (default, /dev/shm), so that the "
           "disk does not matter, or on disk, where each write waits for fsync",
           [](settings& s, std::string_view v) {
               if (v != "memory" && v != "disk") {
                   throw usage_error(fmt::format("'{}' is not memory or disk", v));
               }
               s.on_disk = v == "disk";
           }},
    option{"--heap",
           "SIZE",
           "the Java heap of the started server (default 2g)",
           [](settings& s, std::string_view v) {
               bool good =
                   v.size() > 1 && (v.back() == 'g' || v.back() == 'm') &&
                   std::all_of(v.begin(), v.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
               if (!good)
                   throw usage_error(fmt::format("'{}' is not like 2g or 512m", v));
               s.heap = v;
           }},
    option{"--warm-up",
           "N",
           "create, read and delete this many znodes before anything is measured: a server that "
           "has just started is several times slower, as it is a Java program",
           [](settings& s, std::string_view v) { s.warm_up = to_number(v, 0, million); }},
    option{"--json",
           "FILE",
           "also write every figure to FILE, as an array of objects",
           [](settings& s, std::string_view v) {
               if (v.empty())
                   throw usage_error("it needs the name of a file");
               s.json_file = v;
           }},
    option{
        "--report",
        "DIR",
        "also create a folder with a page (index.html), pictures and distributions, replacing an "
        "earlier report there; needs gnuplot",
        [](settings& s, std::string_view v) {
            if (v.empty())
                throw usage_error("it needs the name of a folder");
            s.report_folder = v;
        }},
    option{"--from",
           "FILE[,FILE...]",
           "measure nothing: create the report from files that --json wrote",
           [](settings& s, std::string_view v) {
               for (auto part : split(v))
                   s.from.emplace_back(part);
           }},
    option{"--repeat",
           "N",
           "measure N times and show medians, with the spread",
           [](settings& s, std::string_view v) { s.repeat = to_number(v, 1, 1'000); }},
    option{"--session-timeout",
           "MS",
           "session timeout to request",
           [](settings& s, std::string_view v) {
               s.session_timeout = std::chrono::milliseconds(to_number(v, 100, 10 * million));
           }},
    option{"--quiet",
           "",
           "show no progress",
           [](settings& s, std::string_view) { s.show_progress = false; }},
    option{"--waiters",
           "N[,N...]",
           "the number of waiters: coroutines, or processes of `judge`",
           [](settings& s, std::string_view v) { s.waiters = to_numbers(v, 1, 5 * million); }},
    option{"--recipe",
           "NAME[,NAME...]",
           "what they wait for: lock (default), shared_lock (readers and writers), "
           "shared_lock_writers (writers only), semaphore, election (each leader acknowledges), "
           "election_run (each leader's term is a coroutine), all",
           [](settings& s, std::string_view v) { s.recipes = to_recipes(v); },
           recipe_names},
    option{"--readers",
           "N",
           "shared lock: the number of readers behind each writer (default 3)",
           [](settings& s, std::string_view v) { s.readers = to_number(v, 1, 10'000); }},
    option{"--limit",
           "K[,K...]",
           "semaphore: the number of permits; 1 is a lock",
           [](settings& s, std::string_view v) { s.limits = to_numbers(v, 1, 100'000); }},
    option{"--processes",
           "K",
           "how many processes the waiters and their sessions are spread over; 1: all on this "
           "program's only thread",
           [](settings& s, std::string_view v) { s.processes = to_number(v, 1, 1'000); }},
    option{"--sessions",
           "M",
           "how many ZooKeeper sessions they share (waiter i uses i mod M)",
           [](settings& s, std::string_view v) { s.sessions = to_number(v, 1, 20'000); }},
    option{"--implementation",
           "NAME[,NAME...]",
           "ours (corozk), textbook (each waiter lists the children itself, as on ZooKeeper's "
           "recipes page), herd (all clients watch one node: the lock's, or the leader's); the "
           "last two for lock and election only",
           [](settings& s, std::string_view v) {
               s.implementations.clear();
               auto all = implementation_names();
               for (auto part : split(v)) {
                   if (std::find(all.begin(), all.end(), part) == all.end()) {
                       throw usage_error(fmt::format("'{}' is not ours, textbook or herd", part));
                   }
                   s.implementations.emplace_back(part);
               }
           },
           implementation_names},
    option{"--operations",
           "N",
           "how many of each to measure",
           [](settings& s, std::string_view v) { s.operations = to_number(v, 10, 100 * million); }},
    option{"--in-flight",
           "N",
           "how many requests are in flight at a time when pipelining",
           [](settings& s, std::string_view v) { s.in_flight = to_number(v, 1, 100'000); }},
    option{"--watches",
           "N",
           "how many nodes are watched during the faults (default 50000)",
           [](settings& s, std::string_view v) { s.watches = to_number(v, 0, million); }},
    option{"--only",
           "TEXT",
           "only the cases whose name contains this, such as 'closed'",
           [](settings& s, std::string_view v) { s.only = v; }},
    option{"--releases",
           "N",
           "how many releases to measure (default 30)",
           [](settings& s, std::string_view v) { s.releases = to_number(v, 1, 1'000); }},
    option{"--load",
           "P[,P...]",
           "the percentage of the servers' capacity that other clients use; `sizing`: one number",
           [](settings& s, std::string_view v) { s.loads = to_numbers(v, 0, 100); }},
    option{"--budget",
           "S",
           "how many seconds each row may take, and each of its repetitions, counted from when its "
           "sessions are connected; then it is abandoned, and larger numbers of the same are not "
           "tried (default 30)",
           [](settings& s, std::string_view v) {
               s.budget = std::chrono::seconds(to_number(v, 1, 100'000));
           }},
    option{"--duration",
           "S",
           "how many seconds to run (default 600)",
           [](settings& s, std::string_view v) {
               s.duration = std::chrono::seconds(to_number(v, 1, million));
           }},
    option{"--items",
           "N",
           "how many items go through the queue (default 5000)",
           [](settings& s, std::string_view v) { s.items = to_number(v, 10, 10 * million); }},
    option{"--batch",
           "N",
           "how many items each put_many puts (default 100)",
           [](settings& s, std::string_view v) { s.batch = to_number(v, 1, 1'000); }},
    option{"--window",
           "N",
           "further rows in which consumers of several sessions pick among this many items at the "
           "head of the queue (default 1000; 1: no such rows)",
           [](settings& s, std::string_view v) { s.window = to_number(v, 1, 10 * million); }},
    option{"--consumers",
           "N[,N...]",
           "how many coroutines take items at the same time",
           [](settings& s, std::string_view v) { s.consumers = to_numbers(v, 1, 100'000); }},
    option{"--clients",
           "N[,N...]",
           "how many clients add to the counter, or use what is measured, at the same time",
           [](settings& s, std::string_view v) { s.clients = to_numbers(v, 1, 10'000); }},
    option{"--sites",
           "N[,N...]",
           "the number of sites, each with a session of its own",
           [](settings& s, std::string_view v) { s.sites = to_numbers(v, 1, 1'000); }},
    option{"--experiment",
           "NAME[,NAME...]",
           "barrier_table (default), counter, queue, barrier, election, herd, locks, all",
           [](settings& s, std::string_view v) { s.experiments = to_names(v, all_experiments()); }},
    option{"--members",
           "N[,N...]",
           "how many members enter and leave together",
           [](settings& s, std::string_view v) { s.members = to_numbers(v, 1, 100'000); }},
    option{"--barriers",
           "N[,N...]",
           "how many double barriers they enter and leave, one after the other",
           [](settings& s, std::string_view v) { s.barriers = to_numbers(v, 1, 10'000); }},
    option{"--nodes",
           "N[,N...]",
           "how many children the cached or listed node has",
           [](settings& s, std::string_view v) { s.nodes = to_numbers(v, 1, 100'000); }},
    option{"--peers",
           "NAME[,NAME...]",
           "the libraries to compare with: curator, kazoo, zookeeper (the recipes in its own "
           "jars), all, none; one that is not installed is omitted, and its package is named",
           [](settings& s, std::string_view v) { s.peers = to_names(v, all_peers()); },
           names_of<all_peers>},
    option{"--systems",
           "NAME[,NAME...]",
           "the systems to measure: corozk, etcd, redis, all (default), none; one that is not "
           "installed is omitted, and its package is named",
           [](settings& s, std::string_view v) { s.systems = to_names(v, all_systems()); },
           names_of<all_systems>},
    option{"--behind",
           "N[,N...]",
           "how many contenders already wait when one more joins a lock's queue",
           [](settings& s, std::string_view v) { s.behind = to_numbers(v, 1, million); }},
    option{"--deadline",
           "S",
           "how long a peer may take for each request before it counts as failed, and a process of "
           "`judge` until its first line (default 60)",
           [](settings& s, std::string_view v) {
               s.deadline = std::chrono::seconds(to_number(v, 1, 100'000));
           }},
    option{"--full",
           "",
           "include the large numbers: 5,000 to 20,000 waiters, 5,000 items; takes long",
           [](settings& s, std::string_view) {
               s.waiters = {10, 100, 1'000, 2'000, 5'000, 10'000, 20'000};
               s.items = 5'000;
               s.deadline = std::chrono::seconds(240);
               s.repeat = 1;
           }},
    option{"--locks",
           "N",
           "spread the waiters evenly over N locks (default 1)",
           [](settings& s, std::string_view v) { s.locks = to_number(v, 1, million); }},
    option{"--for",
           "N[,N...]",
           "predict for ensembles of N servers (default: as many as were measured)",
           [](settings& s, std::string_view v) { s.planned_servers = to_numbers(v, 1, 1'000); }},
    option{"--hold",
           "MS|own",
           "how many milliseconds after a process has reported that it holds the lock it is told "
           "to release it; own: it is not told, but decides itself. `sizing`: how long each owner "
           "holds the lock",
           [](settings& s, std::string_view v) {
               s.holds_itself = v == "own";
               if (!s.holds_itself)
                   s.hold = std::chrono::milliseconds(to_number(v, 0, million));
           }},
    option{"--stall",
           "S",
           "a stall: processes wait, and none takes the lock for this many seconds, with --hold "
           "own even while it is held (default 20; after a holder's death, twice the session "
           "timeout more)",
           [](settings& s, std::string_view v) {
               s.stall = std::chrono::seconds(to_number(v, 1, 100'000));
           }},
    option{"--kill",
           "N",
           "kill the first N holders (SIGKILL, to their process groups) instead of telling them to "
           "release it, and measure how long it takes until the next process has it",
           [](settings& s, std::string_view v) { s.kills = to_number(v, 0, 100'000); }},
    option{"--fair",
           "",
           "overtaking counts as a fault, too",
           [](settings& s, std::string_view) { s.fair = true; }},
    option{"--queued-after",
           "MS",
           "who has said 'waiting' and does not say 'queued' is assumed to have queued so many "
           "milliseconds later (default 500)",
           [](settings& s, std::string_view v) {
               s.queued_after = std::chrono::milliseconds(to_number(v, 0, million));
           }},
    option{"--name",
           "TEXT",
           "what the recipe is called in the table and in pictures (default: the command)",
           [](settings& s, std::string_view v) {
               if (v.empty())
                   throw usage_error("it needs a name");
               if (v != corozk::detail::printable(v))
                   throw usage_error("a name contains no control characters, and only UTF-8");
               s.judged_name = v;
           }},
    option{"--stops",
           "N",
           "the number of processes to which a fault happens while they hold the lock, once each "
           "(default 3)",
           [](settings& s, std::string_view v) { s.stops = to_number(v, 0, 1'000); }},
    option{"--fault",
           "NAME[,NAME...]",
           "which faults: pause, partition, clock (needs libfaketime, Debian's package faketime; "
           "with corozk's lock only), all (default); one that is not possible is omitted, and the "
           "reason is given",
           [](settings& s, std::string_view v) { s.faults = to_names(v, all_faults()); },
           names_of<all_faults>},
    option{"--interval",
           "S",
           "seconds between two samples (default 5)",
           [](settings& s, std::string_view v) {
               s.interval = std::chrono::seconds(to_number(v, 1, 100'000));
           }},
    option{"--looks",
           "N",
           "end after N samples (default: continue until interrupted)",
           [](settings& s, std::string_view v) { s.looks = to_number(v, 1, million); }},
    option{"--once",
           "",
           "take one sample: which sessions watch which paths, but not what happens",
           [](settings& s, std::string_view) { s.looks = 1; }},
    option{"--crowd",
           "N",
           "report a node if at least this many sessions watch it (default 10)",
           [](settings& s, std::string_view v) { s.crowd = to_number(v, 2, million); }},
    option{
        "--most-watches",
        "N",
        "do not ask a server for its watches if it has more than this (default 100000)",
        [](settings& s, std::string_view v) { s.most_watches = to_number(v, 1, 100 * million); }},
    option{"--",
           "COMMAND [ARGUMENT...]",
           "the program to judge; in its arguments {hosts}, {path}, {number}, {limit} and "
           "{session-timeout} are replaced",
           [](settings&, std::string_view) {}},
};

constexpr std::array<std::string_view, 12> common{"--hosts",
                                                  "--servers",
                                                  "--observers",
                                                  "--lag",
                                                  "--data",
                                                  "--heap",
                                                  "--warm-up",
                                                  "--json",
                                                  "--report",
                                                  "--repeat",
                                                  "--session-timeout",
                                                  "--quiet"};

/// Nothing is measured, nor repeated, and no server is ours.
constexpr std::array<std::string_view, 3> common_of_lookers{"--hosts", "--json", "--report"};

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

std::string suggestion(std::string_view word, std::span<const std::string_view> accepted) {
    auto near = closest(word, {accepted.begin(), accepted.end()});
    return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

void check_servers(const settings& s) {
    if (!s.hosts.empty())
        parse_hosts(s.hosts);
    for (std::string_view name : {"--heap", "--data"}) {
        if (s.was_given(name) && !s.hosts.empty())
            throw usage_error(
                fmt::format("{} is about our own servers: it makes no sense with --hosts", name));
    }
    auto check = [&s](std::string_view name, bool wanted) {
        if (wanted && !s.hosts.empty())
            throw usage_error(
                fmt::format("{} is about our own servers: it makes no sense with --hosts", name));
        if (wanted && s.servers == 1)
            throw usage_error(fmt::format("{} needs an ensemble: --servers 3", name));
    };
    check("--servers", s.servers != 1);
    check("--observers", s.observers > 0);
    check("--lag", s.lag.count() > 0);
}

}  // namespace

std::span<const option> all_options() {
    return options;
}

std::span<const std::string_view> common_options(bool look_only) {
    return look_only ? std::span<const std::string_view>(common_of_lookers) : common;
}

const option& find_option(std::string_view name) {
    auto at = std::find_if(
        options.begin(), options.end(), [name](const option& o) { return o.name == name; });
    if (at == options.end())
        throw std::logic_error("no such option: " + std::string(name));
    return *at;
}

std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    std::size_t least = word.size() / 2 + 1;
    for (auto candidate : candidates) {
        if (auto d = distance(word, candidate); d < least) {
            least = d;
            best = candidate;
        }
    }
    return best;
}

bool parse_arguments(std::span<const std::string_view> words,
                     std::span<const std::string_view> accepted,
                     settings& s) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view word = words[i];
        bool takes_command = std::find(accepted.begin(), accepted.end(), "--") != accepted.end();
        if (word == "--" && takes_command) {
            s.judged_command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                    words.end());
            break;
        }
        if (word == "--help" || word == "-h")
            return true;
        auto equals = word.find('=');
        std::string_view name = word.substr(0, equals);
        bool known = std::find(accepted.begin(), accepted.end(), name) != accepted.end();
        if (!known) {
            bool elsewhere = std::any_of(
                options.begin(), options.end(), [name](const option& o) { return o.name == name; });
            if (elsewhere)
                throw usage_error(fmt::format("this command has no option '{}'", name));
            throw usage_error(
                word.starts_with('-')
                    ? fmt::format("unknown option '{}'{}", name, suggestion(name, accepted))
                    : fmt::format("unexpected argument '{}'", word));
        }
        const option& o = find_option(name);
        if (o.value.empty() && equals != word.npos) {
            throw usage_error(fmt::format("'{}' takes no value", name));
        }
        std::string_view value;
        if (equals != word.npos) {
            value = word.substr(equals + 1);
        } else if (!o.value.empty()) {
            if (i + 1 == words.size()) {
                throw usage_error(fmt::format("'{}' needs a value: {} {}", name, name, o.value));
            }
            value = words[++i];
            if (std::any_of(options.begin(), options.end(), [value](const option& other) {
                    return other.name == value;
                }))
                throw usage_error(fmt::format("'{}' needs a value, and '{}' is an option: {} {}",
                                              name,
                                              value,
                                              name,
                                              o.value));
        }
        s.given.emplace_back(name);
        try {
            o.apply(s, value);
        } catch (const usage_error& problem) {
            throw usage_error(fmt::format("{}: {}", name, problem.what()));
        }
    }
    check_servers(s);
    return false;
}

void require_one(std::string_view option, const std::vector<std::size_t>& numbers) {
    if (numbers.size() != 1)
        throw usage_error(fmt::format("{}: one number", option));
}

}  // namespace corozk::bench
