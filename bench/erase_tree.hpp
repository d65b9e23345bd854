// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace corozk::bench {

/// Erases a node with everything below it.
boost::asio::awaitable<void> erase_tree(client& c, std::string path);

}  // namespace corozk::bench
