// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <functional>
#include <memory>

namespace corozk::detail {

/// Asks a server whether it has a quorum, on a connection of its own ("isro", which servers answer
/// that may be read-only). The C client's own question would block the loop, and leak descriptors.
class quorum_question : public std::enable_shared_from_this<quorum_question> {
public:
    using endpoint = boost::asio::ip::tcp::endpoint;

    quorum_question(const boost::asio::any_io_executor& executor, const endpoint& server)
        : socket_(executor), server_(server) {}

    /// Calls back if the answer is yes, and not at all otherwise.
    void ask(std::function<void(const endpoint&)> yes);

    /// From now on nothing is called.
    void withdraw() noexcept;

private:
    boost::asio::ip::tcp::socket socket_;
    endpoint server_;
    std::function<void(const endpoint&)> yes_;
    std::array<char, 2> answer_{};
};

}  // namespace corozk::detail
