// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section watch_section() {
    section s;
    s.workload = "watch";
    s.heading = "Herds in an ensemble in use";
    s.question = "Which nodes do many sessions watch, and which of these wake up needlessly?";
    s.method =
        "Each server was queried at intervals for its counters, connections and watches, and the "
        "answers were compared with the previous ones. A row has the medians of the samples in "
        "which it was found.";
    s.reading =
        "A herd: all its sessions are woken at each change, and few proceed. Broadcast: they had a "
        "reason to wake. Crowd: many watch, and nothing has happened yet. Burst: an event that "
        "fired many watches of an unknown node. Listing: large responses.";
    s.labels = {"finding"};
    s.columns = {{"path", "path", nullptr},
                 {"event", "event", nullptr},
                 {"sessions", "sessions", figure_text},
                 {"on servers", "servers", count_text},
                 {"woken", "notifications", count_text},
                 {"turns", "turns", count_text},
                 {"proceeded", "proceeded", count_text},
                 {"reads", "reads", count_text},
                 {"bytes each", "bytes_per_read", bytes_text}};
    return s;
}

}  // namespace corozk::bench
