// SPDX-License-Identifier: Apache-2.0
// The instances of this service, for each other: found by service discovery, connected to by Asio.
#pragma once

#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace service {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::awaitable;
using response = http::response<http::string_body>;

class peers {
public:
    static constexpr const char* path = "/service/instances";
    static constexpr const char* kind = "http";

    peers(corozk::client& zk, std::string name)
        : services_(zk, path), provider_(zk, path, kind), name_(std::move(name)) {}

    awaitable<void> join(std::string address, unsigned short port) {
        corozk::service_instance self(kind, std::move(address), port);
        self.id = name_;
        co_await services_.register_instance(self);
    }

    awaitable<void> leave() { co_await services_.unregister(kind, name_); }

    /// The response of any instance: each in turn, and the next one if it cannot be reached.
    awaitable<response> get(std::string target) {
        boost::beast::tcp_stream stream(co_await asio::this_coro::executor);
        stream.expires_after(std::chrono::seconds(5));  // an instance may hang
        corozk::service_endpoints all = co_await provider_.get_endpoints();
        auto [ec, used] = co_await stream.async_connect(
            all.begin(), all.end(), asio::as_tuple(asio::use_awaitable));
        // Each has one address, and so one endpoint.
        for (auto failed = all.begin(); failed != used; ++failed)
            provider_.report_failure(failed->instance());
        if (ec)
            throw boost::system::system_error(ec);
        http::request<http::empty_body> asked(http::verb::get, target, 11);
        asked.set(http::field::host, used->host_name() + ":" + used->service_name());
        asked.keep_alive(false);
        co_await http::async_write(stream, asked, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        response reply;
        co_await http::async_read(stream, buffer, reply, asio::use_awaitable);
        co_return reply;
    }

private:
    corozk::service_discovery services_;
    corozk::service_provider provider_;
    std::string name_;
};

}  // namespace service
