// SPDX-License-Identifier: Apache-2.0
// What a delay queue has besides the driver of all queues: its clock.
#include "recipe/queue/delay_queue_rule.hpp"
#include <corozk/recipe/delay_queue.hpp>

namespace corozk {

namespace {

delay_queue::wall_clock system_clock_unless(delay_queue::wall_clock time) {
    if (time)
        return time;
    return [] { return std::chrono::system_clock::now(); };
}

}  // namespace

delay_queue::delay_queue(const client& c, std::string path, queue_options options, wall_clock time)
    : basic_queue(c,
                  std::move(path),
                  std::move(options),
                  detail::queue_order::due_time,
                  system_clock_unless(time)),
      time_(system_clock_unless(std::move(time))) {}

std::int64_t delay_queue::rank_of(due_time when) const {
    return detail::due_at(when, time_());
}

}  // namespace corozk
