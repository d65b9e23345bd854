// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/path.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/queue/producer.hpp"
#include "recipe/toolkit/recipe_core.hpp"

namespace corozk::detail {

/// The implementation of a queue object.
class queue_impl final : public recipe_core {
public:
    queue_impl(port& p,
               const std::string& path,
               queue_options options,
               queue_order order,
               queue_consumer::wall_clock clock,
               std::weak_ptr<session_view> s)
        : recipe_core(p, "queue", path),
          settings_(std::make_shared<const queue_settings>(path, std::move(options), order)),
          acknowledger_(std::make_shared<queue_acknowledger>(p, settings_)),
          producer(std::make_shared<queue_producer>(p, settings_)),
          consumer(std::make_shared<queue_consumer>(
              p, settings_, acknowledger_, std::move(clock), std::move(s))) {}

    bool path_is_good() const {
        const std::string& control = settings_->options.control_path;
        if (!recipe_core::path_is_good() || !detail::path_is_good(port_, "queue", control))
            return false;
        return !is_at_or_below(control, path()) ||
               refuse_path(port_, "queue", control, "is inside the queue: set control_path");
    }

    void stop() noexcept override {
        recipe_core::stop();
        consumer->stop();
        producer->stop();
        acknowledger_->stop();
    }

private:
    std::shared_ptr<const queue_settings> settings_;
    std::shared_ptr<queue_acknowledger> acknowledger_;

public:
    const std::shared_ptr<queue_producer> producer;
    const std::shared_ptr<queue_consumer> consumer;
};

}  // namespace corozk::detail
