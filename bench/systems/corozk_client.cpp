// SPDX-License-Identifier: Apache-2.0
#include "systems/lock_client.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

class corozk_client : public lock_client {
public:
    explicit corozk_client(const lock_wish& wish) : wish_(wish) {}

    asio::awaitable<void> connect() override {
        client_options options(wish_.hosts);
        options.session_timeout = wish_.timeout;
        options.logger.level = log_level::error;
        client_ = co_await client::connect(std::move(options));
        if (wish_.recipe == "election") {
            election_.emplace(*client_, wish_.name);
        } else {
            lock_.emplace(*client_, wish_.name);
        }
        co_await client_->ensure_path(written());
    }

    asio::awaitable<void> write() override {
        std::string data = "data";
        co_await client_->set(written(), data);
    }

    asio::awaitable<std::int64_t> acquire() override {
        if (election_) {
            held_ = co_await election_->campaign();
        } else {
            held_ = co_await lock_->acquire();
        }
        co_return held_.fencing_token();
    }

    asio::awaitable<void> release() override { co_await held_.release(); }

    asio::awaitable<void> hold() override { co_await held_.wait_lost(); }

    asio::awaitable<std::size_t> contenders() override {
        auto found = co_await client_->get_children(wish_.name);
        co_return found.names.size();
    }

    void close() override {
        if (client_)
            client_->close([](error_code) {});
    }

private:
    std::string written() const { return wish_.name + "-written"; }

    lock_wish wish_;
    std::optional<client> client_;
    std::optional<lock> lock_;
    std::optional<election> election_;
    ownership held_;
};

}  // namespace

std::unique_ptr<lock_client> make_corozk_client(const lock_wish& wish) {
    return std::make_unique<corozk_client>(wish);
}

}  // namespace corozk::bench
