// SPDX-License-Identifier: Apache-2.0
#include "sizing/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corozk::bench {

namespace {

constexpr double most_waiters = 1e6;

/// A holder that has had corozk's lock for so long lists the queue once more.
constexpr double short_hold_us = 5'000;

/// On idle servers.
double handover_alone_us(const server_costs& costs, lock_form form, const lock_demand& demand) {
    double share = 1 / demand.servers;
    switch (form) {
        case lock_form::corozk:
            // What the transaction takes longer than a delete.
            return costs.handover_latency_us + costs.transaction_us - costs.write_us;
        case lock_form::textbook:
            return costs.handover_latency_us + costs.read_latency_us +
                   demand.waiters * costs.name_us;
        case lock_form::herd:
            // Events to everybody come first; then the creates, one of which wins.
            return costs.handover_latency_us + costs.read_latency_us +
                   demand.waiters * costs.event_us * share;
    }
    return 0;
}

/// Requests queue behind those of others, and of other locks. A lock's own do not: one turn follows the
/// other. So it is
///   alone / (left - (locks - 1) * busy / (hold + handover))
/// where the load of the other locks depends on how long a hand-over takes.
double handover_beside_us(const server_costs& costs,
                          lock_form form,
                          const lock_demand& demand,
                          double busy) {
    double alone = handover_alone_us(costs, form, demand);
    double left = 1 - demand.other_load;
    double half = (left * demand.hold_us - (demand.locks - 1) * busy - alone) / 2;
    return (std::sqrt(half * half + left * alone * demand.hold_us) - half) / left;
}

}  // namespace

std::string_view name_of(lock_form form) {
    switch (form) {
        case lock_form::corozk: return "corozk";
        case lock_form::textbook: return "textbook recipe";
        case lock_form::herd: break;
    }
    return "herd lock";
}

turn_work work_of(lock_form form, double waiters, double hold_us) {
    turn_work w;
    switch (form) {
        case lock_form::corozk:
            w.transactions = 1;  // the release
            w.writes = 1;        // queueing again
            // Two listings, the watches on the one ahead and on the own node, the one ahead again.
            w.reads = 5;
            w.events = 3;
            w.names = (hold_us < short_hold_us ? 1.5 : 2) * waiters;
            break;
        case lock_form::textbook:
            w.writes = 2;  // a delete and a create
            w.reads = 3;   // a listing, the watch; a listing when it is woken
            w.events = 1;
            w.names = 2 * waiters;
            break;
        case lock_form::herd:
            w.writes = 2 + waiters;  // the delete; all try, and who has released it does, too
            w.reads = waiters;       // all but the one that has it watch again
            w.events = waiters;
            break;
    }
    return w;
}

double busy_us(const server_costs& costs, const turn_work& work, double servers) {
    double everywhere = work.writes * costs.write_us + work.transactions * costs.transaction_us;
    double shared =
        work.reads * costs.read_us + work.events * costs.event_us + work.names * costs.name_us;
    return everywhere + shared / servers;
}

lock_prediction predict(const server_costs& costs, lock_form form, const lock_demand& demand) {
    lock_prediction p;
    double busy = busy_us(costs, work_of(form, demand.waiters, demand.hold_us), demand.servers);
    double left = 1 - demand.other_load;
    if (left <= 0) {
        p.load = 1;
        p.saturated = true;
        p.handover_us = std::numeric_limits<double>::infinity();
        return p;
    }
    // As often as the servers can do it at most.
    double least_us = demand.locks * busy / left - demand.hold_us;
    p.handover_us = std::max(handover_beside_us(costs, form, demand, busy), least_us);
    p.saturated = p.handover_us <= least_us;
    p.turns_per_s = demand.locks * 1e6 / (demand.hold_us + p.handover_us);
    p.load = p.saturated ? 1 : demand.other_load + p.turns_per_s * busy / 1e6;
    return p;
}

std::optional<double> waiters_at_load(const server_costs& costs,
                                      lock_form form,
                                      lock_demand demand,
                                      double load) {
    if (demand.other_load >= load)
        return 0;
    auto reaches = [&](double waiters) {
        demand.waiters = waiters;
        return predict(costs, form, demand).load >= load;
    };
    if (!reaches(most_waiters))
        return std::nullopt;
    double below = 0;
    double above = most_waiters;
    while (above - below > 1) {
        double middle = std::floor((below + above) / 2);
        (reaches(middle) ? above : below) = middle;
    }
    return above;
}

}  // namespace corozk::bench
