// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <functional>
#include <memory>

namespace corozk::detail {

/// Asks a server whether it has a quorum, on a separate connection ("isro", supported by servers
/// that may be read-only). The C client's own check would block the loop and leak descriptors.
class quorum_question : public std::enable_shared_from_this<quorum_question> {
public:
    using endpoint = boost::asio::ip::tcp::endpoint;

    quorum_question(const boost::asio::any_io_executor& executor, const endpoint& server)
        : socket_(executor), server_(server) {}

    /// Calls back only if the server has a quorum.
    void ask(std::function<void(const endpoint&)> yes);

    /// The callback is not called afterwards.
    void withdraw() noexcept;

private:
    boost::asio::ip::tcp::socket socket_;
    endpoint server_;
    std::function<void(const endpoint&)> yes_;
    std::array<char, 2> answer_{};
};

}  // namespace corozk::detail
