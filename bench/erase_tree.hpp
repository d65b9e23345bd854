// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <corozk/client.hpp>
#include <string>

namespace corozk::bench {

/// Erases a node with everything below it.
boost::asio::awaitable<void> erase_tree(client& c, std::string path);

}  // namespace corozk::bench
