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
            "what the server and the C client need without corozk: the lower bound",
            "Measures round trips of single requests, listings by their size, and the time from a "
            "delete in one session to the watch event in another, in a bare poll loop around "
            "ZooKeeper's C client, and the same through corozk's client. Every other command "
            "measures this floor before and after its own work, too, and shows its figures as "
            "multiples of it (delete -> watch event). Then a hand-over between sessions is "
            "decomposed: a token is passed around a ring of --sessions bare sessions in one poll "
            "loop, by a delete that the next session watches; by a transaction that also checks "
            "the next session's node; by the transaction with which corozk's lock is released, "
            "which creates and deletes what the next session watches; and by the same, followed by "
            "the two watches that the session sets for its next contender. For comparison, a lock "
            "of corozk with as many sessions.",
            {"--operations", "--nodes", "--sessions"},
            defaults_of_floor,
            run_floor},
        command{
            "handover",
            "how long it takes until the next waiter has the lock, and what that costs",
            "N coroutines queue for a lock that is held; then it is handed over from one to the "
            "next. --recipe makes them wait for a shared lock, a semaphore or an election instead. "
            "A hand-over is timed from right before release() until the next acquire() returns; "
            "for a shared lock, until each of the readers behind a writer has it. A semaphore's K "
            "holders release at the same time, so that each release waits for others. A leader "
            "that acknowledges writes one more node between two hand-overs. Waiters wait on M "
            "sessions (--sessions), all on one thread, or on as many threads as there are "
            "processes (--processes). Requests, notifications (one for each session and node) and "
            "bytes are the clients' own count; memory is what malloc handed out per waiter, the "
            "waiter's own coroutine included. The herd baseline of the election, where every "
            "candidate watches the leader's node and lists the parent when it is deleted, is "
            "quadratic for each hand-over: it gets 300 candidates.",
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
            "what one release causes as waiters increase, and how it affects other clients",
            "Waiters queue, and the lock is released a few times, ten times a second, or as often "
            "as possible (releases/s); the former owner queues again. Shown is what one release "
            "causes until all clients are idle again: requests, watch notifications, bytes. With "
            "the herd lock, every waiter wakes up each time. Notifications are per session, so use "
            "many sessions. A client that does not use the lock reads a node 200 times a second, "
            "at fixed times: the latency of a read is measured from when it was due. This is the "
            "bare C client on a thread of its own, and its reads are timed while all wait and "
            "while the lock is released. With --servers 3 there is one such client at each server, "
            "and their reads are also shown by the server's role: leader, follower, lagging "
            "follower (--lag), observer (--observers). With --peers, the reads are also timed with "
            "the locks of Curator and Kazoo, whose owners keep them for a tenth of a second each "
            "and do not queue again. If each waiter lists the parent, queueing grows with the "
            "square of the waiters: a row that is not done within --budget is abandoned, and the "
            "table says so.",
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
            "a lock while other clients use the servers, from idle to nearly saturated",
            "First the servers' capacity is measured: sets by the bare C client, many in flight at "
            "a time. Then one client sends --load per cent of it, at fixed times and regardless of "
            "the responses (an open loop), while a lock is handed over among --sessions sessions a "
            "hundred times a second, an uncontended lock is acquired as often, and the bare C "
            "client sets a node as often. Each latency is measured from when the operation was "
            "due, so that pauses of the server count. The clients use this machine's cores, too: "
            "on few cores the servers' capacity is what remains.",
            {"--load", "--sessions", "--operations"},
            defaults_of_load,
            run_load,
            check_load},
        command{
            "endure",
            "hand-overs for minutes or hours: whether memory, descriptors and threads grow",
            "--waiters coroutines, spread over --sessions sessions, hand a lock over and queue "
            "again, for --duration seconds. Shown for each of 24 parts of that time: hand-overs, "
            "their latency and requests, and the minimum that this process occupied. A quantity "
            "grows if in the last quarter of the time it is always larger than at any time in the "
            "second quarter (memory: by more than one per cent); then the exit code is 1. Six "
            "hours are --duration 21600.",
            {"--duration", "--waiters", "--sessions"},
            defaults_of_endure,
            run_endure,
            check_endure},
        command{
            "queue",
            "items per second through a queue: put, take, and consume with acknowledgement",
            "Each row sends --items items through a fresh queue and checks that each came out "
            "once. Put: one after the other; by --in-flight coroutines at the same time, whose "
            "puts share requests; in transactions of --batch. Take and consume: by --consumers "
            "coroutines on one session, and spread over --sessions sessions, in the latter case "
            "additionally with --window (queue_options::window). The floor is what the bare C "
            "client reaches with as many creates or deletes in the same minute, 1,000 in flight at "
            "a time: combining several items in a request can beat it.",
            {"--items", "--in-flight", "--batch", "--window", "--consumers", "--sessions"},
            defaults_of_queue,
            run_queue},
        command{
            "semaphore",
            "hand-over of permits: how many per second, how soon, at what cost",
            "N coroutines (--waiters) wait for one permit each while all K (--limit) are held; "
            "then each new holder releases at once, so that K hand-overs are in progress at a "
            "time. Shown for every K: how long a free permit stays free, and what its hand-over "
            "costs.",
            {"--limit", "--waiters", "--sessions", "--processes"},
            defaults_of_semaphore,
            run_semaphore},
        command{
            "counter",
            "additions per second to one counter: by one client, by many of one process, by many",
            "Each of --clients coroutines adds 1 repeatedly and waits for each result: all on one "
            "object, which combines concurrent additions, and each on a session of its own, where "
            "they conflict. The sum is checked. The floor is one conditional set after the other "
            "by the bare C client.",
            {"--clients", "--operations"},
            defaults_of_counter,
            run_counter},
        command{
            "2pc",
            "messages of a two-phase commit by the number of sites, in both forms",
            "A coordinator begins a transaction, --sites sites (a session each) join, vote, learn "
            "the outcome and finish. The requests and notifications of all sessions are counted. "
            "If every site watches every vote, they grow with the square of the sites; if only the "
            "coordinator does, linearly.",
            {"--sites"},
            defaults_of_two_phase_commit,
            run_two_phase_commit},
        command{"barrier",
                "how long it takes until all members of a double barrier are inside, and out again",
                "--members coroutines enter at the same time, then leave; they share --sessions "
                "sessions. The floor is as many bare creates (deletes), all in flight at once. "
                "--repeat is the number of rounds.",
                {"--members", "--sessions"},
                defaults_of_barrier,
                run_barrier},
        paper_command(),
        command{
            "cache",
            "from another session's write to the cache's new state",
            "One session sets one node after the other, waiting each time until a cache on another "
            "session returns the state with the new data. A cache is notified of the change (the "
            "floor) and then reads the node: two steps.",
            {"--nodes", "--operations"},
            defaults_of_cache,
            run_cache},
        command{
            "compare",
            "corozk compared with Curator, Kazoo, the recipes in ZooKeeper's jars, and a bare C "
            "loop",
            "All do the same on the same server, in turn: lock hand-overs (with increasing numbers "
            "of waiters, on one session and on many), uncontended locks, elections, shared locks, "
            "semaphores, double barriers, queues, counters, caches, and joining a very long queue. "
            "The peers are small programs (bench/peers) that use each recipe as intended; they run "
            "as child processes, and the server counts what they send. A peer that does not finish "
            "in time, is stuck, or throws has failed: the table says how, it is not tried with "
            "larger numbers of the same, and all others continue. The bare loop is the floor: the "
            "minimum that the C client and the server need. First, all do a little of everything "
            "at a distance from the servers, which shows for how many round trips each operation "
            "waits; not with --hosts.",
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
            "a page with pictures: of compare and herd, or of earlier measurements",
            "Runs compare and herd with their defaults and writes one report of their results; "
            "takes about fifteen minutes. --from creates the report from files that --json wrote, "
            "of these or of other commands, and measures nothing. The folder contains index.html "
            "(self-contained), the pictures as SVG with gnuplot's scripts, the latency "
            "distributions in HdrHistogram's percentile format (.hgrm), and rows.json.",
            {"--from", "--peers"},
            defaults_of_report,
            run_report},
        command{
            "uncontended",
            "an uncontended lock: acquire and release compared with a bare create and delete",
            "Acquiring an uncontended lock and releasing it is compared with creating and deleting "
            "a node, through corozk's client and through the bare C client. The three take turns "
            "in small blocks, so that all of them see the same server and the same noise.",
            {"--operations"},
            defaults_of_operations,
            run_uncontended},
        command{
            "ops",
            "single requests: one after the other, and many in flight at a time",
            "create, exists, get, set, list and delete through corozk's client, with the CPU time "
            "of "
            "this process per request. When pipelining, --in-flight coroutines send one request "
            "after the other. The bare C client does the same for comparison.",
            {"--operations", "--in-flight"},
            defaults_of_operations,
            run_ops},
        command{
            "network",
            "what TCP and TLS cost: requests, connecting, memory, locks; a silent server",
            "A node is created and deleted repeatedly; then creates, exists and deletes are sent "
            "with --in-flight requests in flight; then --sessions sessions connect, one after the "
            "other; then a lock is acquired and released, and handed over among as many waiters, "
            "on "
            "one session and with a session each. All of it by corozk over TCP and over TLS, and "
            "all "
            "but the locks by the bare C client, in turns, with one server (Netty; its certificate "
            "is "
            "checked, the client has none). "
            "Connecting ends with a session, and over TLS includes the handshake; memory is what "
            "malloc handed out for each session. Finally a client connects by TLS to a server that "
            "accepts the connection and sends nothing: shown is the longest iteration of the event "
            "loop meanwhile.",
            {"--operations", "--in-flight", "--sessions"},
            defaults_of_network,
            run_network},
        command{
            "many",
            "a million waiters on one thread and one session, and where the memory goes",
            "As handover, with corozk's lock only: 100,000 waiters on one lock, then 100,000 locks "
            "with one waiter each, then a million waiters on one lock (several minutes). --waiters "
            "and --locks set other numbers; the waiters are spread evenly over the locks. Then the "
            "memory of a waiter is decomposed.",
            {"--waiters", "--sessions", "--locks"},
            defaults_of_many,
            run_many},
        command{
            "stall",
            "how long the library blocks the event loop under faults",
            "A watchdog posts itself to the event loop repeatedly and records the gaps. Meanwhile "
            "the server is stopped, killed, restarted, the session expires, the client is closed, "
            "while --watches nodes are watched. Shown is the longest gap: as observed, and without "
            "the time in which the machine had no core free for this thread (as counted by the "
            "kernel), which is the part that the library causes.",
            {"--watches", "--only"},
            defaults_of_stall,
            run_stall},
    };
    return commands;
}

}  // namespace corozk::bench
