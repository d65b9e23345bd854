// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

namespace {

using boost::json::object;

bool is_election(const object& row) {
    return text_of(row, "recipe") == "election";
}

plot_series system_series(const object& row) {
    plot_series s;
    s.implementation = text_of(row, "implementation");
    s.title = title_of(row) + (is_election(row) ? ", election" : "");
    s.secondary = is_election(row);
    return s;
}

std::string a_write(const object&) {
    return "a write";
}

std::string a_cycle(const object&) {
    return "acquire +\nrelease";
}

std::string a_handover(const object& row) {
    return "hand-over,\n" + counted(static_cast<std::size_t>(figure_of(row, "waiters")), "waiter");
}

std::string a_loss(const object&) {
    return "holder killed";
}

std::string an_outage(const object&) {
    return "leading server killed";
}

}  // namespace

section systems_section() {
    section s;
    s.workload = "systems";
    s.heading = "Compared with other systems";
    s.question = "How do locks and elections of ZooKeeper, etcd and Redis compare?";
    s.method =
        "All on the same machine, in turn; every waiter is a client with a session and connections "
        "of its own. Then holders are killed, and the time is until the next one has it.";
    s.reading =
        "A system that writes faster may guarantee less: Redis's lock has no order and no fencing "
        "token. Compare hand-overs with a write of the same system. Times after a kill are those "
        "of session timeouts.";
    s.labels = {"recipe", "phase"};
    s.columns = {{"waiters", "waiters", count_text},
                 {"servers", "servers", count_text},
                 {"a write p50", "write_us.p50", microseconds_text},
                 {"acquire + release p50", "cycle_us.p50", microseconds_text},
                 {"p99", "cycle_us.p99", microseconds_text},
                 {"hand-over p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"after a holder's death", "loss_s", seconds_text},
                 {"after a server's death", "outage_s", seconds_text}};
    s.bars = {{.name = "systems",
               .title = "Locks and elections of several systems",
               .caption = "Medians; the lower, the quicker. Pale: elections.",
               .y_title = "time, median",
               .unit = plot_unit::seconds,
               .scale = 1e-6,
               .workload = "systems",
               .figures = {{"write_us.p50", a_write},
                           {"cycle_us.p50", a_cycle},
                           {"handover_us.p50", a_handover}},
               .series = system_series},
              {.name = "systems-deaths",
               .title = "After a death, nothing is granted for",
               .caption = "Until the next one has it. Pale: elections.",
               .y_title = "time, median",
               .unit = plot_unit::seconds,
               .workload = "systems",
               .figures = {{"loss_s", a_loss}, {"outage_s", an_outage}},
               .from_zero = true,
               .series = system_series}};
    return s;
}

section safety_section() {
    section s;
    s.workload = "safety";
    s.heading = "What a guard is for";
    s.question = "Which updates are lost when holders of a lock are stopped?";
    s.method =
        "Processes read a set under a lock and write it back with one more element. A fault "
        "befalls some. Pause: they are stopped between their last check of the lock and the write, "
        "until another process has written. Partition: for as long they are cut off from the "
        "servers, but not from the file, and keep running; they check the lock afterwards, or have "
        "checked it before. Clock: it jumps by five hours while they hold the lock, the wall clock "
        "alone or the monotonic one with it. Guards: none; valid asks the client before each "
        "write; token has the store check a fencing token; commit, check, transaction and script "
        "write only if the lock is still held, in one request.";
    s.reading =
        "Lost: elements whose write was acknowledged and which are missing at the end. No lock "
        "prevents overlaps; a guard that the store checks rejects the late write. With the guard "
        "'none' losses are intended: they show why the others are needed, as do those of a client "
        "that is asked before a pause. Told: when the lock reported its loss, before or after it "
        "was granted to another process.";
    s.labels = {};
    s.columns = {{"fault", "fault", nullptr},
                 {"data in a", "store", nullptr},
                 {"guard", "guard", nullptr},
                 {"told", "notice_ms", notice_text},
                 {"overlaps", "overlaps", count_text},
                 {"acknowledged", "added", count_text},
                 {"refused", "refused", count_text},
                 {"unknown", "unknown", count_text},
                 {"lost", "lost", count_text, true}};
    return s;
}

}  // namespace corozk::bench
