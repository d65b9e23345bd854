// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/queue/consumer.hpp"
#include "recipe/queue/producer.hpp"

namespace corozk::detail {

/// What is behind a queue object.
class queue_impl final {
public:
    queue_impl(port& p,
               const queue_settings& settings,
               queue_consumer::wall_clock clock,
               std::weak_ptr<session> s)
        : port_(p),
          settings_(std::make_shared<const queue_settings>(settings)),
          producer_(std::make_shared<queue_producer>(p, settings_)),
          consumer_(
              std::make_shared<queue_consumer>(p, settings_, std::move(clock), std::move(s))) {}

    port& owner() noexcept { return port_; }
    queue_producer& producer() noexcept { return *producer_; }
    queue_consumer& consumer() noexcept { return *consumer_; }
    bool stopped() const noexcept { return consumer_->stopped(); }
    bool path_is_good() const {
        return detail::path_is_good(port_, "queue", settings_->path) &&
               detail::path_is_good(port_, "queue", settings_->options.control_path);
    }

    /// The object is destroyed.
    void stop() {
        consumer_->stop();
        producer_->stop();
    }

    const std::string& path() const noexcept { return settings_->path; }

private:
    port& port_;
    std::shared_ptr<const queue_settings> settings_;
    std::shared_ptr<queue_producer> producer_;
    std::shared_ptr<queue_consumer> consumer_;
};

}  // namespace corozk::detail
