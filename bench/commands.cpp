// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "compare/peer_kind.hpp"
#include "contest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

void defaults_of_handover(settings& s) {
    s.waiters = {1'000};
    s.implementations = {"ours", "textbook", "herd"};
}

void check_contestants(const settings& s) {
    require_one("--limit", s.limits);
    for (const auto& recipe : s.recipes) {
        for (const auto& implementation : s.implementations) {
            if (is_implemented(recipe, implementation))
                return;
        }
    }
    throw usage_error(fmt::format("there is no {} of the implementation {}",
                                  fmt::join(s.recipes, " or "),
                                  fmt::join(s.implementations, " or ")));
}

void defaults_of_herd(settings& s) {
    s.waiters = {10, 100, 1'000, 10'000};
    s.sessions = 1'000;  // a session hears of a node once, however many of it wait
    s.recipes = {"lock", "election"};
    s.implementations = {"ours", "textbook", "herd"};
    s.repeat = 1;
}

void defaults_of_load(settings& s) {
    s.loads = {0, 10, 30, 50, 70, 90};
    s.sessions = 2;
    s.operations = 3'000;
    s.repeat = 1;
}

void defaults_of_endure(settings& s) {
    s.waiters = {1'000};
    s.sessions = 100;
    s.repeat = 1;
}

void defaults_of_semaphore(settings& s) {
    s.limits = {1, 10, 100};
    s.waiters = {1'000};
}

void defaults_of_queue(settings& s) {
    s.consumers = {1, 100};
    s.sessions = 10;
}

void defaults_of_counter(settings& s) {
    s.clients = {1, 16};
    s.operations = 10'000;
}

void defaults_of_two_phase_commit(settings& s) {
    s.sites = {4, 8, 16, 32, 64};
}

void defaults_of_barrier(settings& s) {
    s.members = {10, 100, 1'000};
    s.repeat = 5;
}

void defaults_of_cache(settings& s) {
    s.nodes = {100, 1'000};
    s.operations = 1'000;
}

void defaults_of_operations(settings& s) {
    s.operations = 2'000;
}

void defaults_of_compare(settings& s) {
    for (const peer_kind& peer : all_peers())
        s.peers.emplace_back(peer.name);
    s.waiters = {10, 100, 1'000};
    s.behind = {1'000, 18'000};
    s.repeat = 1;
    s.sessions = 100;
    s.members = {1'000};
    s.items = 2'000;
    s.operations = 1'000;
}

void defaults_of_report(settings& s) {
    s.report_folder = "report";
    s.repeat = 1;
    for (const peer_kind& peer : all_peers())
        s.peers.emplace_back(peer.name);
}

void defaults_of_floor(settings& s) {
    s.operations = 2'000;
    s.nodes = {10, 1'000, 10'000};
    s.sessions = 100;
}

void defaults_of_network(settings& s) {
    s.tls = true;
    s.operations = 2'000;
    s.sessions = 200;
}

void defaults_of_many(settings& s) {
    s.heap = "8g";  // a million nodes, and the list of them
    s.repeat = 1;
}

void defaults_of_stall(settings& s) {
    s.repeat = 1;
    s.session_timeout = std::chrono::milliseconds(6'000);
}

}  // namespace

std::span<const command> all_commands() {
    static const std::array commands{
        demo_command(),
        judge_command(),
        watch_command(),
        safety_command(),
        sizing_command(),
        systems_command(),
        command{
            "floor",
            "what the server and the C client need by themselves: nothing can be faster",
            "Round trips of single requests, listings of folders by their size, and the time from "
            "one session's delete to another "
            "session's watch event, in a bare poll loop around ZooKeeper's C client, and the same "
            "through corozk's client. Every other command measures this floor before and after its "
            "own work, too, and shows its figures as multiples of it (delete -> watch event). "
            "Then a hand-over between sessions is taken apart: a turn is passed on around a ring "
            "of --sessions bare sessions in one poll loop, by a delete which the next one "
            "watches; by a transaction that also checks the next one's node; by the transaction "
            "that a release of corozk's lock is, which creates and deletes what the next one "
            "watches; and by the same, followed by the two watches that the session leaves for "
            "its next contender. Beside them a lock of corozk's with as many sessions.",
            {"--operations", "--nodes", "--sessions"},
            defaults_of_floor,
            run_floor},
        command{
            "handover",
            "how long it takes until the next waiter has the lock, and what that costs",
            "N coroutines queue for a lock that is held; then it is passed on from one to the "
            "next. "
            "--recipe has them wait for a shared lock, a semaphore or an election instead. "
            "A hand-over is timed from right before release() to the acquire() that this lets in "
            "returning: the next one; of a shared lock, each of the readers behind a writer. A "
            "semaphore's K holders release at the same time, so that each release waits for "
            "others. "
            "A leader that acknowledges writes one node more, between two hand-overs. "
            "Waiters wait on M sessions (--sessions), all on one thread, or on as many threads as "
            "there are processes (--processes). Requests, notifications "
            "(one for each session and node) and bytes are the clients' own count; memory is what "
            "malloc handed out per waiter, the waiter's own coroutine included. The herd baseline "
            "of the election, where every candidate watches the leader's node and lists the folder "
            "when that goes, is quadratic for each hand-over: it gets 300 candidates.",
            {"--waiters",
             "--sessions",
             "--processes",
             "--implementation",
             "--recipe",
             "--readers",
             "--limit"},
            defaults_of_handover,
            run_handover,
            check_contestants},
        command{
            "herd",
            "what one release stirs up as more and more wait, and what a neighbour notices of it",
            "Waiters queue, and the lock is released a few times, ten times a second, or as often "
            "as it can be (releases/s); who has released it queues again. Shown is what one "
            "release causes until everything is quiet again: requests, watch notifications, bytes. "
            "With the herd "
            "lock, every waiter wakes up each time. Notifications are per session, so use many "
            "sessions. A client that has nothing to do with the lock reads a node 200 times a "
            "second, at fixed times: a read that the server or its queue delays is counted from "
            "when it was due. It is the bare C client on a thread of its own, and its reads are "
            "timed while all wait and while the lock is released. With --servers 3 there is one at "
            "each server, and their reads are also shown by what the server is: leader, follower, "
            "lagging follower (--lag), observer (--observers). With --peers they are timed also "
            "beside the "
            "locks of Curator and Kazoo, whose owners keep them for a tenth of a second each and "
            "do not queue again. Where each waiter lists the "
            "folder, queueing grows with the square of "
            "the waiters: a row that is not done within --budget is given up, and the table says "
            "so.",
            {"--waiters",
             "--sessions",
             "--recipe",
             "--implementation",
             "--releases",
             "--budget",
             "--peers",
             "--deadline"},
            defaults_of_herd,
            run_herd,
            check_contestants},
        command{
            "load",
            "a lock while others use the servers, from not at all to nearly all of what they can "
            "do",
            "First the servers' capacity is measured: sets by the bare C client, many on their way "
            "at a time. Then one client sends --load per cent of it, at fixed times and whatever "
            "the answers do, while a lock is passed on among --sessions sessions a hundred times a "
            "second, another one that nobody else wants is acquired as often, and the bare C "
            "client sets a node as often. Each is counted from when it was due: what comes while "
            "the server stands still is late, too. The clients take their share of this machine's "
            "cores: on few cores the servers' capacity is what is left.",
            {"--load", "--sessions", "--operations"},
            defaults_of_load,
            run_load,
            check_load},
        command{
            "endure",
            "hand-overs for minutes or hours: whether memory, descriptors and threads stay as they "
            "are",
            "As many coroutines as --waiters says, spread over --sessions sessions, pass a lock on "
            "and queue again, for --duration seconds. Shown for each of 24 parts of that time: "
            "hand-overs, their latency and requests, and the least that this process occupied. "
            "Something "
            "grows if in the last quarter of the time it is always more than it was at any time in "
            "the second (memory by more than one per cent); then the exit code is 1. Six hours are "
            "--duration 21600.",
            {"--duration", "--waiters", "--sessions"},
            defaults_of_endure,
            run_endure,
            check_endure},
        command{
            "queue",
            "items per second through a queue: put, take, and consume with acknowledgement",
            "Each row sends --items items through a fresh queue and checks that each came out "
            "once. "
            "Put: one after the other; by --in-flight coroutines at the same time, whose puts "
            "share "
            "requests; in transactions of --batch. Take and consume: by --consumers coroutines on "
            "one "
            "session, and spread over --sessions sessions, there also with a --window, which is "
            "queue_options::window. The floor is what the bare C client "
            "reaches with as many creates or deletes in the same minute, 1,000 on their way at a "
            "time: combining several items in a request can beat it.",
            {"--items", "--in-flight", "--batch", "--window", "--consumers", "--sessions"},
            defaults_of_queue,
            run_queue},
        command{
            "semaphore",
            "passing permits on: how many per second, how soon, at what cost",
            "N coroutines (--waiters) wait for one permit each while all K (--limit) are held; "
            "then "
            "each who gets one gives it back at once, so that K are on their way at a time. Shown "
            "for every K: how long a free permit stays free, and what passing it on costs.",
            {"--limit", "--waiters", "--sessions", "--processes"},
            defaults_of_semaphore,
            run_semaphore},
        command{
            "counter",
            "additions per second to one counter: by one client, by many of one process, by many",
            "Each of --clients coroutines adds 1 again and again and waits for each result: all on "
            "one object, which combines what is asked for at the same time, and each on a session "
            "of "
            "its own, where they are in each other's way. The sum is checked. The floor is one "
            "conditional set after the other by the bare C client.",
            {"--clients", "--operations"},
            defaults_of_counter,
            run_counter},
        command{
            "2pc",
            "messages of a two-phase commit by the number of sites, in both forms",
            "A coordinator begins a transaction, --sites sites (a session each) join, vote, learn "
            "the outcome and finish. Counted are the requests and notifications of all sessions. "
            "Where every site watches every vote they grow with the square of the sites; where "
            "only "
            "the coordinator does, linearly.",
            {"--sites"},
            defaults_of_two_phase_commit,
            run_two_phase_commit},
        command{"barrier",
                "how long it takes until all members of a double barrier are inside, and out again",
                "--members coroutines enter at the same time, then leave; they share --sessions "
                "sessions. "
                "The floor is as many bare creates (deletes), all on their way at once. --repeat "
                "is the "
                "number of rounds.",
                {"--members", "--sessions"},
                defaults_of_barrier,
                run_barrier},
        paper_command(),
        command{
            "cache",
            "from another session's write to the cache's new state",
            "One session sets one node after the other, waiting each time until a cache on another "
            "session gives the state with the new data. A cache hears of the change (the floor) "
            "and "
            "then reads the node: two steps.",
            {"--nodes", "--operations"},
            defaults_of_cache,
            run_cache},
        command{
            "compare",
            "corozk beside Curator, Kazoo, the recipes in ZooKeeper's jars, and a bare C loop",
            "All do the same on the same server and take turns: passing a lock on (more and more "
            "waiters, on one session and on many), uncontended locks, elections, shared locks, "
            "semaphores, double barriers, queues, counters, caches, and joining a very long queue. "
            "The peers are small programs (bench/peers) that use each recipe as it is meant to be "
            "used; they run as child processes, and what they send is counted by the server. One "
            "that does not finish in time, is stuck, or throws has failed: the table says how, it "
            "is not asked for larger numbers of the same, and all others go on. The bare loop is "
            "the floor: what the C client and the server need at the least. Before, all do a "
            "little of "
            "everything at a distance from the servers, which shows how many round trips each "
            "operation waits for; not with --hosts.",
            {"--peers",
             "--full",
             "--only",
             "--waiters",
             "--behind",
             "--sessions",
             "--items",
             "--operations",
             "--members",
             "--deadline"},
            defaults_of_compare,
            run_compare,
            [](const settings& s) { require_one("--members", s.members); }},
        command{
            "report",
            "a page with pictures: compare and herd, or what was measured before",
            "Runs compare and herd as they are by default and puts what they measured into one "
            "report; takes about fifteen minutes. --from makes the report from files that --json "
            "wrote, of these or of other commands, which measures nothing. The folder gets "
            "index.html (self-contained), the pictures as SVG with gnuplot's scripts, the latency "
            "distributions in HdrHistogram's percentile format (.hgrm), and rows.json.",
            {"--from", "--peers"},
            defaults_of_report,
            run_report},
        command{
            "uncontended",
            "a lock that nobody else wants: acquire and release beside a bare create and delete",
            "Acquiring an uncontended lock and releasing it is compared with creating and deleting "
            "a "
            "node, through corozk's client and through the bare C client. The three take turns in "
            "small blocks, so that all of them meet the same server and the same noise.",
            {"--operations"},
            defaults_of_operations,
            run_uncontended},
        command{
            "ops",
            "single requests: one after the other, and many on their way at a time",
            "create, exists, get, set, list and delete through corozk's client, with the CPU time "
            "of "
            "this process per request. When pipelining, --in-flight coroutines send one request "
            "after the other. The bare C client does the same for comparison.",
            {"--operations", "--in-flight"},
            defaults_of_operations,
            run_ops},
        command{
            "network",
            "what TCP and TLS cost: requests, connecting, memory; a server that says nothing",
            "A node is created and deleted again and again; then creates, exists and deletes are "
            "sent with --in-flight on their way; then --sessions sessions connect, one after the "
            "other. All of it by the bare C client, by corozk over TCP, and by corozk over TLS, in "
            "turns, with one server (Netty; its certificate is checked, the client has none). "
            "Connecting ends with a session, and over TLS includes the handshake; memory is what "
            "malloc handed out for each session. At last a client connects by TLS to a server "
            "that takes the connection and says nothing: shown is the longest turn of the event "
            "loop meanwhile.",
            {"--operations", "--in-flight", "--sessions"},
            defaults_of_network,
            run_network},
        command{
            "many",
            "a million waiters on one thread and one session, and where the memory goes",
            "As handover, with corozk's lock only: 100,000 waiters on one lock, then 100,000 locks "
            "with one waiter each, then a million waiters on one lock (several minutes). --waiters "
            "and --locks ask for other numbers; the waiters are spread evenly over the locks. Then "
            "the memory of a waiter is taken apart.",
            {"--waiters", "--sessions", "--locks"},
            defaults_of_many,
            run_many},
        command{
            "stall",
            "how long the library keeps the event loop from other work when things go wrong",
            "A watchdog posts itself to the event loop again and again and notes the gaps. "
            "Meanwhile the server is stopped, killed, restarted, the session expires, the client "
            "is "
            "closed, with --watches nodes being watched. Shown is the longest gap: as seen, and "
            "without the time in which the machine had no core free for this thread (the kernel's "
            "count), which is what the library is to blame for.",
            {"--watches", "--only"},
            defaults_of_stall,
            run_stall},
    };
    return commands;
}

}  // namespace corozk::bench
