// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_queue.hpp"

#include <utility>

namespace corozk::detail {

namespace {

/// The number of queues without contenders that are kept, for their knowledge of the latest one.
constexpr std::size_t idle_queues = 64;

/// Contenders share a queue if all of this is equal. Others at the same path are remote to each
/// other.
std::string key_of(const contention_settings& settings) {
    std::string key = settings.parent;
    key += '\0';
    key += settings.names.before_guid;
    for (const std::string& infix : settings.names.infixes)
        (key += '\0') += infix;
    for (const acl_entry& e : settings.entries) {
        key += '\0';
        key += static_cast<char>(e.allowed);
        (key += e.scheme) += ':';
        key += e.id;
    }
    for (std::int32_t limit : {settings.fixed_limit, settings.initial_limit}) {
        key += '\0';
        if (limit > 0)
            key += std::to_string(limit);
    }
    key += settings.request_replaces_data ? '\1' : '\0';
    key += settings.release_request;
    return key;
}

}  // namespace

contention_queues::~contention_queues() = default;

contention_queue& contention_queues::get(const contention_settings& settings) {
    std::string key = key_of(settings);
    auto& slot = queues_[key];
    if (!slot)
        slot = std::make_unique<contention_queue>(*this, port_, settings, key);
    if (std::exchange(slot->idle_, false))
        idle_.remove(slot.get());
    return *slot;
}

void contention_queues::retire(contention_queue& q) {
    if (!std::exchange(q.idle_, true))
        idle_.push_front(&q);
    q.view_.forget_remote();
    if (idle_.size() <= idle_queues)
        return;
    contention_queue& oldest = *idle_.back();
    idle_.pop_back();
    queues_.erase(std::string(oldest.key_));
}

}  // namespace corozk::detail
