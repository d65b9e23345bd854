// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/watch.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace corozk::bench {

/// The queue of ZooKeeper's recipes page, to the letter: who consumes lists the folder with a watch,
/// takes what it has listed in order, and waits for the folder to change when nothing is there. For
/// comparison only: it does not recover from lost answers. One consumer's.
class plain_queue {
public:
    /// The folder is there.
    plain_queue(client& c, std::string path) : client_(&c), path_(std::move(path)) {}

    boost::asio::awaitable<void> put(std::string data);

    /// Waits until there is one. @return its data
    boost::asio::awaitable<std::string> take();

private:
    client* client_;
    std::string path_;
    std::vector<std::string> listed_;  ///< the last one is the next to be taken
    watch changed_;                    ///< of the last listing, whether it is waited for or not
};

}  // namespace corozk::bench
