// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace corozk::bench {

/// What a client of some system is to compete for.
struct lock_wish {
    lock_wish() = default;

    std::string system;  ///< corozk, etcd, redis
    std::string hosts;
    std::string recipe = "lock";  ///< or election
    std::string name;             ///< a path, below which nothing is
    /// After so long without a word from it, a client is taken for dead.
    std::chrono::milliseconds timeout{0};
};

/// One who wants a lock (or to lead), with a connection and a session of its own, as a process of
/// its own would have it. One operation at a time.
class lock_client {
public:
    virtual ~lock_client() = default;

    virtual boost::asio::awaitable<void> connect() = 0;

    /// A write that has nothing to do with the lock: the round trip that nothing can do without.
    virtual boost::asio::awaitable<void> write() = 0;

    /// @return a number that is larger than at each earlier grant; 0: there is no such number
    virtual boost::asio::awaitable<std::int64_t> acquire() = 0;
    virtual boost::asio::awaitable<void> release() = 0;

    /// Holds it until something fails, for a process that does nothing else.
    virtual boost::asio::awaitable<void> hold() = 0;

    /// How many hold it or have queued for it, as the servers know.
    virtual boost::asio::awaitable<std::size_t> contenders() = 0;

    /// Ends what is waited for, too.
    virtual void close() = 0;
};

std::unique_ptr<lock_client> make_lock_client(const boost::asio::any_io_executor& executor,
                                              const lock_wish& wish);

std::unique_ptr<lock_client> make_corozk_client(const lock_wish& wish);
std::unique_ptr<lock_client> make_etcd_client(const boost::asio::any_io_executor& executor,
                                              const lock_wish& wish);
std::unique_ptr<lock_client> make_redis_client(const boost::asio::any_io_executor& executor,
                                               const lock_wish& wish);

}  // namespace corozk::bench
