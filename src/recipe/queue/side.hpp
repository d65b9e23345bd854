// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/ensure_path.hpp"
#include "driver/signal.hpp"
#include "driver/task.hpp"
#include "operation/path.hpp"
#include "recipe/queue/rule.hpp"
#include "recipe/toolkit/exactly_once.hpp"
#include "recipe/toolkit/renew_parent.hpp"
#include "recipe/toolkit/sequence_end.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
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

/// What fits into one transaction, by an upper estimate of its size.
class transaction_room {
public:
    explicit transaction_room(std::size_t max_request_size) noexcept : most_(max_request_size) {}

    /// Whether these steps, with so many bytes of paths, data and ACLs, fit as well. The first ones
    /// always do.
    bool take(std::size_t steps, std::size_t bytes) noexcept {
        const bool first = steps_ == 0;
        steps_ += steps;
        bytes_ += bytes;
        const std::size_t size = overhead + steps_ * overhead_per_step + bytes_;
        return first || (steps_ <= most_steps && size <= most_);
    }

private:
    static constexpr std::size_t overhead = 4096;
    static constexpr std::size_t overhead_per_step = 256;
    /// Enough for throughput, without blocking the server.
    static constexpr std::size_t most_steps = 128;

    std::size_t most_;
    std::size_t steps_ = 0;
    std::size_t bytes_ = 0;
};

/// One side of a queue object: a driver that runs while there are calls, and what applies its
/// transactions.
class queue_side : public std::enable_shared_from_this<queue_side>, protected interest {
public:
    queue_side(port& p, std::shared_ptr<const queue_settings> settings)
        : port_(p),
          settings_(std::move(settings)),
          wake_(p),
          exactly_once_(p, settings_->options.control_path, settings_->options.acl) {}

    signal& wake() noexcept { return wake_; }
    const queue_settings& settings() const noexcept { return *settings_; }
    bool stopped() const noexcept { return stopped_; }

    /// The object is destroyed.
    void stop() {
        stopped_ = true;
        fail(boost::asio::error::operation_aborted);
        wake_.set();
        if (!running_)
            exactly_once_.retire();
    }

protected:
    ~queue_side() = default;

    /// A call was added: starts the driver if necessary.
    void start() {
        if (running_)
            return wake_.set();
        running_ = true;
        port_.spawn(run(shared_from_this()));
    }
    bool running() const noexcept { return running_; }

    /// Runs until no call is pending.
    virtual task<> serve() = 0;

    /// Whether all calls that the present transaction is for are pending: otherwise it is not sent, and
    /// there will be another one for the rest.
    bool waiting() const noexcept override = 0;
    virtual void fail(error_code ec) = 0;

    /// @param call  whether it is wanted; null: anyway
    task<error_code> create_parent(const interest* call) {
        return ensure_path(
            port_, settings_->path, settings_->options.acl, create_mode::persistent, call);
    }

    static error_code unless_nobody_waited(error_code ec) {
        return nobody_waited(ec) ? error_code() : ec;
    }

    /// The number of an item's node is not followed by others that are in order: see
    /// `sequence_spent`.
    bool spent(std::string_view item_name) const {
        const std::optional<queue_key> key = settings_->names.parse(item_name);
        return key && sequence_spent(key->sequence);
    }
    /// In the background, as the parent may be empty now.
    void renew_parent() { port_.spawn(try_renew_parent(port_, settings_->path)); }

    port& port_;
    std::shared_ptr<const queue_settings> settings_;
    signal wake_;
    exactly_once exactly_once_;

private:
    static task<> run(std::shared_ptr<queue_side> self) {
        co_await self->serve();
        self->running_ = false;
        if (self->stopped())
            self->exactly_once_.retire();
    }

    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace corozk::detail
