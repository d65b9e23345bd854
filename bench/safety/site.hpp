// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "safety/protection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace corozk::bench {

enum class write_outcome { written, refused, unknown };

struct site_options {
    site_options() = default;

    const protection* by = nullptr;
    std::string hosts;
    std::chrono::milliseconds session_timeout{0};
    std::string lock_name;
    std::string store;  ///< a file, or a name in the system
};

/// A lock, and a text that it protects and that is read and written as a whole.
class site {
public:
    virtual ~site() = default;

    virtual boost::asio::awaitable<void> connect() = 0;

    /// Of the text, without the lock.
    virtual boost::asio::awaitable<void> make() = 0;
    virtual boost::asio::awaitable<std::string> look() = 0;

    /// Again and again until it is held, in another session if need be.
    virtual boost::asio::awaitable<void> acquire() = 0;
    virtual boost::asio::awaitable<void> release() = 0;

    /// Whether it is still held, as far as the client knows.
    virtual bool valid() const = 0;

    /// While it is held.
    virtual boost::asio::awaitable<std::string> read() = 0;
    virtual boost::asio::awaitable<write_outcome> write(std::string text) = 0;

    virtual boost::asio::awaitable<void> close() = 0;
};

std::unique_ptr<site> make_site(const boost::asio::any_io_executor& executor, site_options o);

std::unique_ptr<site> make_corozk_site(site_options o);
std::unique_ptr<site> make_etcd_site(const boost::asio::any_io_executor& executor, site_options o);
std::unique_ptr<site> make_redis_site(const boost::asio::any_io_executor& executor, site_options o);

}  // namespace corozk::bench
