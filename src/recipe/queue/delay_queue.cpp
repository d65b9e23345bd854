// SPDX-License-Identifier: Apache-2.0
// The clock of a delay queue; otherwise it uses the drivers of all queues.
#include "recipe/queue/delay_queue_rule.hpp"
#include "recipe/queue/queue_impl.hpp"
#include <corozk/recipe/delay_queue.hpp>

namespace corozk {

delay_queue::delay_queue(const client& c, std::string path, queue_options options, wall_clock time)
    : producing_queue(c,
                      std::move(path),
                      std::move(options),
                      detail::queue_order::due_time,
                      time ? std::move(time) : wall_clock(&std::chrono::system_clock::now)) {}

std::int64_t basic_queue::rank_of(due_time when) const {
    return impl_ ? detail::due_at(when, impl_->consumer->clock()()) : 0;
}

}  // namespace corozk
