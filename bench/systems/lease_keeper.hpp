// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace corozk::bench {

/// Renews a lease of etcd's in the background, over a connection of its own, as often as etcd's
/// clients do: three times in its duration.
class lease_keeper {
public:
    lease_keeper(const boost::asio::any_io_executor& executor,
                 std::uint16_t port,
                 std::int64_t lease,
                 std::chrono::milliseconds duration);
    ~lease_keeper();
    lease_keeper(const lease_keeper&) = delete;
    lease_keeper& operator=(const lease_keeper&) = delete;

    /// Returns when it could not be renewed.
    boost::asio::awaitable<void> until_lost();

    bool lost() const;

private:
    struct state;
    static boost::asio::awaitable<void> renew(std::shared_ptr<state> s);

    std::shared_ptr<state> state_;
};

}  // namespace corozk::bench
