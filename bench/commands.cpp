// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "command.hpp"

namespace corozk::bench {

namespace {

void defaults_of_demo(settings& s) {
    s.waiters = {10'000};
    s.repeat = 1;
}

void defaults_of_handover(settings& s) {
    s.waiters = {1'000};
    s.implementations = {"ours", "textbook", "herd"};
}

void defaults_of_herd(settings& s) {
    s.waiters = {10, 100, 1'000};
    s.sessions = 100;
    s.implementations = {"ours", "textbook", "herd"};
    s.repeat = 1;
}

void defaults_of_operations(settings& s) {
    s.operations = 2'000;
}

void defaults_of_many(settings& s) {
    s.waiters = {100'000};
    s.repeat = 1;
}

void defaults_of_stall(settings& s) {
    s.repeat = 1;
    s.session_timeout = std::chrono::milliseconds(6'000);
}

}  // namespace

std::span<const command> all_commands() {
    static const std::array commands{
        command{
            "demo",
            "thousands of coroutines want one lock, on one thread; beside two other ways to do it",
            "Waiters queue for a lock that is held; then it is passed on from one to the next, each "
            "holding it for no time at all. Ends with a table: corozk, the recipe as ZooKeeper's own "
            "page describes it, and the lock that the page warns of, with fewer waiters where they "
            "take too long.",
            {"--waiters"},
            defaults_of_demo,
            run_demo},
        command{
            "floor",
            "what the server and the C client need by themselves: nothing can be faster",
            "Round trips of single requests and the time from one session's delete to another "
            "session's watch event, in a bare poll loop around ZooKeeper's C client, and the same "
            "through corozk's client. Every other command measures this floor before and after its "
            "own work, too, and shows its figures as multiples of it (delete -> watch event).",
            {"--operations"},
            defaults_of_operations,
            run_floor},
        command{
            "handover",
            "how long it takes until the next waiter has the lock, and what that costs",
            "N coroutines queue for a lock that is held; then it is passed on from one to the next. "
            "A hand-over is timed from right before release() to the next acquire() returning. "
            "Waiters wait on M sessions (--sessions), all on one thread. Requests, notifications and "
            "bytes are the clients' own count; memory is what malloc handed out per waiter, the "
            "waiter's own coroutine included.",
            {"--waiters", "--sessions", "--implementation"},
            defaults_of_handover,
            run_handover},
        command{
            "herd",
            "what one release stirs up as more and more wait",
            "Waiters queue, and the lock is released a few times; shown is what one release causes "
            "until everything is quiet again: requests, watch notifications, bytes. With the herd "
            "lock, every waiter wakes up each time. Notifications are per session, so use many "
            "sessions.",
            {"--waiters", "--sessions", "--implementation", "--releases"},
            defaults_of_herd,
            run_herd},
        command{
            "uncontended",
            "a lock that nobody else wants: acquire and release beside a bare create and delete",
            "Acquiring an uncontended lock and releasing it is compared with creating and deleting a "
            "node, through corozk's client and through the bare C client. The three take turns in "
            "small blocks, so that all of them meet the same server and the same noise.",
            {"--operations"},
            defaults_of_operations,
            run_uncontended},
        command{
            "ops",
            "single requests: one after the other, and many on their way at a time",
            "create, exists, get, set, list and delete through corozk's client, with the CPU time of "
            "this process per request. When pipelining, --in-flight coroutines send one request "
            "after the other. The bare C client does the same for comparison.",
            {"--operations", "--in-flight"},
            defaults_of_operations,
            run_ops},
        command{
            "many",
            "a hundred thousand waiters on one thread and one session, and where the memory goes",
            "As handover, with corozk's lock only. --locks N spreads the waiters over N locks "
            "(--waiters 100k --locks 100k: each lock has an owner and one who waits). Then the "
            "memory of a waiter is taken apart.",
            {"--waiters", "--sessions", "--locks"},
            defaults_of_many,
            run_many},
        command{
            "stall",
            "how long the library keeps the event loop from other work when things go wrong",
            "A watchdog posts itself to the event loop again and again and notes the gaps. "
            "Meanwhile the server is stopped, killed, restarted, the session expires, the client is "
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
