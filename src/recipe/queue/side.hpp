// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/ensure_path.hpp"
#include "driver/signal.hpp"
#include "driver/task.hpp"
#include "operation/path.hpp"
#include "recipe/queue/rule.hpp"
#include "recipe/toolkit/exactly_once.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

/// Settings shared by the producer and the consumer of a queue object.
struct queue_settings {
    queue_settings(std::string path_, queue_options options_, queue_order order)
        : path(std::move(path_)),
          options(std::move(options_)),
          names(options.compatibility, order) {
        if (options.control_path.empty())
            options.control_path = path + "-control";
    }

    std::string path;  ///< of the parent znode
    queue_options options;
    queue_names names;

    std::string item_path(std::string_view name) const { return join_path(path, name); }
};

/// One side of a queue object: a driver that runs while there are calls, and what applies its
/// transactions.
class queue_side : public std::enable_shared_from_this<queue_side> {
public:
    queue_side(port& p, std::shared_ptr<const queue_settings> settings)
        : port_(p),
          settings_(std::move(settings)),
          wake_(p),
          exactly_once_(p, settings_->options.control_path, settings_->options.acl) {}

    signal& wake() noexcept { return wake_; }
    const queue_settings& settings() const noexcept { return *settings_; }
    bool stopped() const noexcept { return state_ == driver_state::stopped; }

    /// The object is destroyed.
    void stop() {
        const bool idle = std::exchange(state_, driver_state::stopped) == driver_state::idle;
        fail(boost::asio::error::operation_aborted);
        wake_.set();
        if (idle)
            exactly_once_.retire();
    }

protected:
    ~queue_side() = default;

    /// A call was added: starts the driver if necessary.
    void start() {
        if (state_ != driver_state::idle)
            return wake_.set();
        state_ = driver_state::running;
        port_.spawn(run(shared_from_this()));
    }
    bool running() const noexcept { return state_ == driver_state::running; }

    /// Runs until no call is pending.
    virtual task<> serve() = 0;
    virtual void fail(error_code ec) = 0;

    task<error_code> create_parent() {
        return ensure_path(port_, settings_->path, settings_->options.acl, create_mode::persistent);
    }

    port& port_;
    std::shared_ptr<const queue_settings> settings_;
    signal wake_;
    exactly_once exactly_once_;

private:
    enum class driver_state : std::uint8_t { idle, running, stopped };

    static task<> run(std::shared_ptr<queue_side> self) {
        co_await self->serve();
        if (self->stopped()) {
            self->exactly_once_.retire();
        } else {
            self->state_ = driver_state::idle;
        }
    }

    driver_state state_ = driver_state::idle;
};

}  // namespace corozk::detail
