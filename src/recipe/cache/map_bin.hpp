// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/node_map.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <mutex>
#include <thread>

namespace corozk::detail {

class node_map_editor;

/// Where the maps of users end: one with 100,000 nodes takes long to destroy. If its last owner lets
/// go of it on the thread of the event loop, that is done in pieces, between which the loop does
/// other things; on another thread, or after the session's end, at once.
class map_bin final : public std::enable_shared_from_this<map_bin> {
public:
    explicit map_bin(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// On the executor.
    std::shared_ptr<const node_map> share(const node_map& map);

    /// The executor may be gone from now on.
    void close() noexcept;

private:
    void take(node_map unused) noexcept;
    void go_on(boost::asio::any_io_executor executor, node_map_editor rest);

    std::mutex mutex_;
    boost::asio::any_io_executor executor_;  ///< empty: closed
    std::thread::id thread_;                 ///< which runs the event loop, as far as known
};

/// The bin of a session.
class session_map_bin final : public service {
public:
    explicit session_map_bin(port& p) : bin_(std::make_shared<map_bin>(p.executor())) {}
    ~session_map_bin() { bin_->close(); }

    std::shared_ptr<const node_map> share(const node_map& map) { return bin_->share(map); }

private:
    std::shared_ptr<map_bin> bin_;
};

}  // namespace corozk::detail
