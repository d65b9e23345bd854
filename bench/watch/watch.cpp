// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "output.hpp"
#include "table.hpp"
#include "watch/findings.hpp"
#include "watch/server_words.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace corozk::bench {

namespace {

/// Also of a watch that could not go on: 1 says that a herd was seen.
constexpr int exit_nothing_known = 2;

constexpr auto answer_limit = std::chrono::seconds(10);
constexpr std::array<std::string_view, 4> all_words{"mntr", "wchs", "wchp", "cons"};

/// Who watches a node at one of so many looks in a row belongs to its crowd.
constexpr std::size_t looks_at_crowds = 5;

/// More would be no help.
constexpr std::size_t most_lines = 20;

/// One of the servers, from look to look.
class observed_server {
public:
    explicit observed_server(server_address address) : address_(std::move(address)) {}

    const server_address& address() const noexcept { return address_; }

    boost::asio::awaitable<server_look> take(std::size_t most_watches) {
        server_look l;
        l.summary = co_await ask("wchs");
        if (!refused_.contains("wchs") && !is_summary(l.summary))
            throw server_silent(fmt::format(
                "{} did not answer like ZooKeeper to 'wchs': is it another program's port?",
                address_.text()));
        if (auto watches = total_watches(l.summary); watches > most_watches) {
            remark(
                fmt::format("it has {} watches: not asked for all of them, --most-watches allows "
                            "{}",
                            count_text(static_cast<double>(watches)),
                            count_text(most_watches)));
        } else {
            parse_wchp(co_await ask("wchp"), l);
        }
        parse_cons(co_await ask("cons"), l);
        l.questions = asked_;
        l.asked = std::chrono::steady_clock::now();
        parse_mntr(co_await ask("mntr"), l);
        if (refused_.size() == all_words.size())
            throw server_silent(refusals());
        co_return l;
    }

    /// What is to be said once, and was not yet.
    std::vector<std::string> take_remarks() {
        if (!refused_.empty() && !told_refusals_) {
            told_refusals_ = true;
            new_remarks_.push_back(refusals());
        }
        return std::exchange(new_remarks_, {});
    }

private:
    /// "" if the server refuses this word.
    boost::asio::awaitable<std::string> ask(std::string word) {
        std::string answer;
        if (refused_.contains(word))
            co_return answer;
        ++asked_;
        try {
            answer = co_await ask_server(address_, word, answer_limit);
        } catch (const word_refused&) {
            refused_.insert(word);
        }
        co_return answer;
    }

    std::string refusals() const {
        std::string text = fmt::format(
            "{} refuses {}; zoo.cfg allows it: "
            "4lw.commands.whitelist={}",
            address_.text(),
            fmt::join(refused_, ", "),
            fmt::join(all_words, ","));
        if (refused_.contains("wchp"))
            text += "; without wchp no path can be named";
        if (refused_.contains("cons"))
            text += "; without cons it is unknown which sessions woke";
        return text;
    }

    void remark(std::string text) {
        if (remarks_.insert(text).second)
            new_remarks_.push_back(fmt::format("{}: {}", address_.text(), text));
    }

    server_address address_;
    std::size_t asked_ = 0;
    std::set<std::string> refused_;
    bool told_refusals_ = false;
    std::set<std::string> remarks_;
    std::vector<std::string> new_remarks_;
};

std::string time_text() {
    return fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

/// Looks again and again, and says what it sees.
class observation {
public:
    explicit observation(job& j) : job_(j) {
        for (auto& address : parse_hosts(j.wanted.hosts))
            servers_.emplace_back(std::move(address));
        before_.resize(servers_.size());
    }

    boost::asio::awaitable<void> run() {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
        const settings& wanted = job_.wanted;
        auto next = clock::now();
        for (std::size_t i = 0; wanted.looks == 0 || i < wanted.looks; ++i) {
            timer.expires_at(next);
            co_await timer.async_wait(boost::asio::use_awaitable);
            next = clock::now() + wanted.interval;
            std::vector<std::optional<server_look>> looks;
            for (std::size_t s = 0; s < servers_.size(); ++s)
                looks.push_back(co_await look_at(s));
            const auto watched = paths_watched(looks);
            std::vector<server_look> before;
            std::vector<server_look> now;
            std::vector<server_look> first;
            for (std::size_t s = 0; s < servers_.size(); ++s) {
                if (looks[s] && !before_[s].empty()) {
                    before.push_back(joined(before_[s], watched));
                    now.push_back(*looks[s]);
                } else if (looks[s]) {
                    first.push_back(*looks[s]);
                }
            }
            if (i == 0 && first.empty())
                throw usage_error("no server reports anything");
            // A crowd is spread over the servers.
            auto found = findings_of(first, wanted.crowd);
            auto happened = findings_between(before, now, wanted.crowd);
            found.insert(found.end(), happened.begin(), happened.end());
            report(std::move(found));
            for (std::size_t s = 0; s < servers_.size(); ++s)
                keep(before_[s], std::move(looks[s]));
        }
    }

private:
    /// At any server, now or at the last look: what nobody watches any more has no crowd.
    std::set<std::string_view> paths_watched(
        const std::vector<std::optional<server_look>>& now) const {
        std::set<std::string_view> paths;
        auto add = [&paths](const server_look& l) {
            for (const auto& [path, watchers] : l.watchers)
                paths.insert(path);
        };
        for (const auto& look : now) {
            if (look)
                add(*look);
        }
        for (const auto& looks : before_) {
            if (!looks.empty())
                add(looks.back());
        }
        return paths;
    }

    /// A look that failed begins anew.
    static void keep(std::deque<server_look>& looks, std::optional<server_look> look) {
        if (!look)
            looks.clear();
        else
            looks.push_back(std::move(*look));
        if (looks.size() > looks_at_crowds)
            looks.pop_front();
    }

    boost::asio::awaitable<std::optional<server_look>> look_at(std::size_t index) {
        observed_server& server = servers_[index];
        server_look now;
        try {
            now = co_await server.take(job_.wanted.most_watches);
        } catch (const server_silent& e) {
            say(fmt::format("{}  {}\n", time_text(), e.what()));
            co_return std::nullopt;
        }
        for (const auto& text : server.take_remarks())
            say(fmt::format("{}  {}\n", time_text(), text));
        auto& looks = before_[index];
        if (!looks.empty() && has_restarted(looks.back(), now)) {
            say(fmt::format("{}  {}: counts anew, as after a restart or an election of a leader\n",
                            time_text(),
                            server.address().text()));
            looks.clear();
        }
        const server_look* before = looks.empty() ? nullptr : &looks.back();
        say(fmt::format(
            "{}  {}: {}\n", time_text(), server.address().text(), state_text(before, now)));
        co_return now;
    }

    void report(std::vector<finding> found) {
        std::sort(found.begin(), found.end(), [](const finding& a, const finding& b) {
            return std::tuple(a.kind, -a.sessions) < std::tuple(b.kind, -b.sessions);
        });
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (i < most_lines)
                say(fmt::format("          {}\n", found[i].text()));
            add(found[i]);
        }
        if (found.size() > most_lines)
            say(fmt::format("          and {} more\n", found.size() - most_lines));
    }

    static std::string clients_text(const server_look& now) {
        if (now.knows_sessions)
            return counted(now.sessions.size(), "session");
        constexpr std::string_view connections = "zk_num_alive_connections";
        if (!now.counters.contains(connections))
            return "the number of sessions is unknown";
        double others = std::max(now.counter(connections) - 1, 0.0);  // one of them has asked
        return counted(static_cast<std::size_t>(others), "connection");
    }

    static std::string state_text(const server_look* before, const server_look& now) {
        std::string text = clients_text(now);
        std::size_t watches = 0;
        for (const auto& [path, watchers] : now.watchers)
            watches += watchers.size();
        if (watches > 0) {
            text += fmt::format(
                ", {} on {}", counted(watches, "watch"), counted(now.watchers.size(), "node"));
        } else if (auto all = total_watches(now.summary); all > 0) {
            text += ", " + counted(all, "watch");
        }
        if (before && !now.counters.empty()) {
            double requests = now.counter("zk_packets_received") -
                              before->counter("zk_packets_received") -
                              static_cast<double>(now.questions - before->questions);
            auto number = [](double n) { return static_cast<std::size_t>(std::max(n, 0.0)); };
            text += "; " + counted(number(requests), "request");
            if (auto notifications = notifications_between(*before, now))
                text += " and " + counted(number(*notifications), "notification");
            text += " since the last look";
        }
        return text;
    }

    /// Of the same path there is one row, with a figure for each look.
    void add(const finding& f) {
        auto key = std::tuple(f.kind, f.path, f.event);
        auto [at, is_new] = rows_.try_emplace(key, job_.results.size());
        if (is_new) {
            result row;
            row.set("finding", to_string(f.kind));
            if (f.kind == finding_kind::burst)
                row.set("event", f.event);
            else
                row.set("path", f.path);
            row.set("server", job_.wanted.hosts);
            job_.results.push_back(std::move(row));
        }
        result& row = job_.results[at->second];
        row.add("sessions", f.sessions).add("servers", f.servers);
        if (f.kind == finding_kind::herd)
            row.add("turns", f.turns);
        if (f.kind == finding_kind::herd || f.kind == finding_kind::broadcast)
            row.add("proceeded", f.proceeded);
        if (f.kind == finding_kind::listing)
            row.add("reads", f.reads).add("bytes_per_read", f.bytes);
        else if (f.kind != finding_kind::crowd)
            row.add("notifications", f.notifications);
        if (f.kind == finding_kind::herd)
            job_.exit_code = 1;
    }

    job& job_;
    std::vector<observed_server> servers_;
    std::vector<std::deque<server_look>> before_;  ///< of each server, the last one at the end
    std::map<std::tuple<finding_kind, std::string, std::string>, std::size_t> rows_;
};

boost::asio::awaitable<void> run_watch(job& j) {
    observation o(j);
    co_await o.run();
}

void check_watch(const settings& s) {
    if (s.hosts.empty())
        throw usage_error("which servers? --hosts HOST:PORT[,HOST:PORT...] names all of them");
    if (s.was_given("--once") && s.was_given("--looks"))
        throw usage_error("--once is --looks 1: not both");
}

void defaults_of_watch(settings& s) {
    s.look_only = true;
    s.show_progress = false;
}

}  // namespace

command watch_command() {
    return command{
        "watch",
        "looks for herds in an ensemble in use, without changing it",
        "Queries each of --hosts at intervals for its counters, connections and watches, and "
        "compares: which paths do many sessions watch, which of these sessions were sent "
        "notifications, and how many of them watch the same path again? 'herd at PATH: N sessions "
        "woke T times in about K changes; M of N wait for the same again' means that all woke at "
        "each change, although only one could proceed; 'broadcast', that a node's data changed, or "
        "that all proceeded. A node that is deleted and re-created, and that all read and watch "
        "again, such as one that names a leader, looks like a herd: the servers do not report "
        "whether the woken sessions had something to read. 'crowd' (in the first sample) means "
        "that many sessions watch a node; 'burst', that the server counts many watches for an "
        "event, but their path is not known; 'large reads', that there were long listings. Name "
        "all servers, as each knows only its own sessions; crowds are summed over them. No session "
        "is opened. Each server must allow the words mntr, wchs, wchp and cons "
        "(4lw.commands.whitelist=mntr,wchs,wchp,cons in its zoo.cfg); a word that is refused is "
        "reported, and not used. wchp is expensive for the server: it writes a line for each "
        "watch, and watches cannot be set meanwhile. So it is not used while there are more than "
        "--most-watches, and --interval should not be short. wchp does not list watches of "
        "children. The exit code is 1 if a herd was seen, even if interrupted later; 2 if no "
        "server responds usefully in the first sample, or the result could not be written; 130 if "
        "interrupted and no herd was seen.",
        {"--interval", "--looks", "--once", "--crowd", "--most-watches"},
        defaults_of_watch,
        run_watch,
        check_watch,
        exit_nothing_known};
}

}  // namespace corozk::bench
