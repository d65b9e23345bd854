// SPDX-License-Identifier: Apache-2.0
#include "network/quorum_question.hpp"

#include "network/stream.hpp"
#include <corozk/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <string_view>
#include <utility>

namespace corozk::detail {

void quorum_question::ask(std::function<void(const endpoint&)> yes) {
    error_code failed;
    open_socket(socket_, server_, failed);
    if (failed)
        return;
    yes_ = std::move(yes);
    static constexpr std::string_view question = "isro";
    auto received = [self = shared_from_this()](const error_code& ec, std::size_t) {
        if (!ec && self->yes_ && std::string_view(self->answer_.data(), 2) == "rw")
            std::exchange(self->yes_, nullptr)(self->server_);
    };
    auto sent = [self = shared_from_this(), received](const error_code& ec, std::size_t) {
        if (!ec)
            boost::asio::async_read(self->socket_, boost::asio::buffer(self->answer_), received);
    };
    socket_.async_connect(server_, [self = shared_from_this(), sent](const error_code& ec) {
        if (!ec)
            boost::asio::async_write(self->socket_, boost::asio::buffer(question), sent);
    });
}

void quorum_question::withdraw() noexcept {
    yes_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace corozk::detail
