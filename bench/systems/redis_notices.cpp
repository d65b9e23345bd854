// SPDX-License-Identifier: Apache-2.0
#include "systems/redis_notices.hpp"

#include "systems/redis_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <exception>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
constexpr auto notice_result = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct redis_notices::state {
    state(const asio::any_io_executor& e, std::string c)
        : executor(e), channel(std::move(c)), changed(e) {}

    asio::any_io_executor executor;
    std::string channel;
    asio::steady_timer changed;
    std::deque<redis_connection> servers;
    std::size_t confirmed = 0;       ///< subscriptions
    std::vector<std::size_t> heard;  ///< messages of each server
    bool closed = false;
};

redis_notices::redis_notices(const asio::any_io_executor& executor,
                             const std::vector<std::uint16_t>& ports,
                             std::string channel)
    : state_(std::make_shared<state>(executor, std::move(channel))) {
    for (auto port : ports)
        state_->servers.emplace_back(executor, port);
    state_->heard.resize(ports.size());
}

redis_notices::~redis_notices() {
    close();
}

void redis_notices::close() {
    state_->closed = true;
    for (auto& server : state_->servers)
        server.close();
    state_->changed.cancel();
}

asio::awaitable<void> redis_notices::connect() {
    for (std::size_t i = 0; i < state_->servers.size(); ++i) {
        co_await state_->servers[i].connect();
        asio::co_spawn(state_->executor, listen(state_, i), asio::detached);
    }
}

asio::awaitable<void> redis_notices::listen(std::shared_ptr<state> s, std::size_t server) {
    try {
        while (!s->closed) {
            auto said = co_await s->servers[server].receive();
            const std::string& kind = said.elements.at(0).text;
            s->confirmed += kind == "subscribe" ? 1 : 0;
            s->heard[server] += kind == "message" ? 1 : 0;
            s->changed.cancel();
        }
    } catch (const std::exception&) {
        s->closed = true;
        s->changed.cancel();
    }
}

asio::awaitable<void> redis_notices::subscribe() {
    auto s = state_;
    s->confirmed = 0;
    for (auto& server : s->servers) {
        server.append({"SUBSCRIBE", s->channel});
        co_await server.flush();
    }
    while (s->confirmed < s->servers.size() && !s->closed) {
        s->changed.expires_at(asio::steady_timer::time_point::max());
        co_await s->changed.async_wait(notice_result);
    }
}

asio::awaitable<void> redis_notices::unsubscribe() {
    for (auto& server : state_->servers) {
        server.append({"UNSUBSCRIBE", state_->channel});
        co_await server.flush();
    }
}

std::size_t redis_notices::count() const {
    auto heard = state_->heard;
    auto middle = heard.begin() + static_cast<std::ptrdiff_t>(heard.size() / 2);
    std::nth_element(heard.begin(), middle, heard.end());
    return *middle;
}

asio::awaitable<void> redis_notices::next(std::size_t seen, std::chrono::milliseconds limit) {
    auto s = state_;
    auto deadline = std::chrono::steady_clock::now() + limit;
    while (count() == seen && !s->closed && std::chrono::steady_clock::now() < deadline) {
        s->changed.expires_at(deadline);
        co_await s->changed.async_wait(notice_result);
    }
}

}  // namespace corozk::bench
