// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace corozk::bench {

/// What one of each takes of a server's time when many are on their way, in microseconds; and how
/// long one takes on an idle server.
struct server_costs {
    double write_us = 0;        ///< a create, set or delete, also one that fails
    double transaction_us = 0;  ///< four operations
    double read_us = 0;         ///< also one that leaves a watch
    double event_us = 0;        ///< a notification
    double name_us = 0;         ///< each name of a listing
    double read_latency_us = 0;
    double handover_latency_us = 0;  ///< from a delete to the watch event in another session

    // CPU time for each write, of the servers that can be looked into; 0: unknown.
    double leader_cpu_us = 0;
    double follower_cpu_us = 0;
};

/// How contenders wait for a lock.
enum class lock_form {
    corozk,    ///< the one behind is told by the transaction that releases
    textbook,  ///< the recipes page: each watches its predecessor, and lists before and after
    herd,      ///< everybody watches one node, and tries to create it when it goes
};

std::string_view name_of(lock_form form);

/// What is asked of the servers.
struct lock_demand {
    double waiters = 1;     ///< of each lock, a session each
    double locks = 1;       ///< which are passed on independently
    double hold_us = 0;     ///< each owner holds it so long; then it queues again
    double servers = 1;     ///< the sessions are spread over them evenly
    double other_load = 0;  ///< of each server's time, by others: 0 to 1
};

/// What one turn of a lock asks of the servers: a release, the next one's grant, and that who has
/// released it queues again.
struct turn_work {
    double writes = 0;
    double transactions = 0;
    double reads = 0;
    double events = 0;
    double names = 0;
};

turn_work work_of(lock_form form, double waiters, double hold_us);

/// The time that a turn takes of each server: all of them apply each write, and share the rest.
double busy_us(const server_costs& costs, const turn_work& work, double servers);

struct lock_prediction {
    double turns_per_s = 0;  ///< of all locks
    double load = 0;         ///< share of each server's time, others included: 1 is all of it
    double handover_us = 0;  ///< from a release until the next one has it; infinite if it never has
    bool saturated = false;  ///< the servers cannot keep up: turns are as quick as they can do them
};

lock_prediction predict(const server_costs& costs, lock_form form, const lock_demand& demand);

/// With how many waiters (of each lock) the load reaches this share; none if it does not below a
/// million, 0 if others alone load the servers so.
std::optional<double> waiters_at_load(const server_costs& costs,
                                      lock_form form,
                                      lock_demand demand,
                                      double load);

}  // namespace corozk::bench
