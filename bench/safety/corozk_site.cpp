// SPDX-License-Identifier: Apache-2.0
#include "safety/file_store.hpp"
#include "safety/site.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
constexpr auto with_code = asio::as_tuple(asio::use_awaitable);

/// Before something is tried again in another session.
constexpr auto session_pause = std::chrono::milliseconds(20);

asio::awaitable<void> wait_a_moment() {
    asio::steady_timer timer(co_await asio::this_coro::executor, session_pause);
    co_await timer.async_wait(asio::use_awaitable);
}

class corozk_site : public site {
public:
    explicit corozk_site(site_options o) : options_(std::move(o)) {
        if (options_.by->store == "file")
            file_.emplace(options_.store, options_.by->guard == "token");
    }

    asio::awaitable<void> connect() override {
        client_options options(options_.hosts);
        options.session_timeout = options_.session_timeout;
        options.logger.level = log_level::error;
        client_ = co_await client::connect(std::move(options));
        lock_.emplace(*client_, options_.lock_name);
    }

    asio::awaitable<void> make() override {
        if (!file_)
            co_await client_->ensure_path(options_.store);
    }

    asio::awaitable<std::string> look() override {
        if (file_)
            co_return file_->read();
        auto node = co_await client_->get(options_.store);
        co_return std::move(node.data);
    }

    asio::awaitable<void> acquire() override {
        for (;;) {
            auto [ec, held] = co_await lock_->acquire(with_code);
            if (!ec) {
                held_ = std::move(held);
                co_return;
            }
            co_await wait_a_moment();
        }
    }

    asio::awaitable<void> release() override { co_await held_.release(with_code); }

    bool valid() const override { return held_.valid(); }

    asio::awaitable<std::string> read() override {
        if (file_)
            co_return file_->read();
        auto node = co_await held_.read(options_.store);
        co_return std::move(node.data);
    }

    asio::awaitable<write_outcome> write(std::string text) override {
        if (file_) {
            bool written = file_->write(held_.fencing_token(), text);
            co_return written ? write_outcome::written : write_outcome::refused;
        }
        if (options_.by->guard == "commit")
            co_return co_await commit(std::move(text));
        co_return co_await insist(std::move(text));
    }

    asio::awaitable<void> close() override { co_await client_->close(); }

private:
    /// As a program does that insists: in the next session, if this one is over.
    asio::awaitable<write_outcome> insist(std::string text) {
        constexpr int most = 500;
        for (int i = 0; i < most; ++i) {
            auto [ec, stat] = co_await client_->set(options_.store, text, with_code);
            if (!ec)
                co_return write_outcome::written;
            co_await wait_a_moment();
        }
        co_return write_outcome::unknown;
    }

    asio::awaitable<write_outcome> commit(std::string text) {
        transaction steps;
        steps.set(options_.store, text);
        auto [ec, results] = co_await held_.commit(std::move(steps), with_code);
        if (!ec)
            co_return write_outcome::written;
        bool lost = ec == errc::ownership_lost;
        co_return lost ? write_outcome::refused : write_outcome::unknown;
    }

    site_options options_;
    std::optional<file_store> file_;
    std::optional<client> client_;
    std::optional<lock> lock_;
    ownership held_;
};

}  // namespace

std::unique_ptr<site> make_corozk_site(site_options o) {
    return std::make_unique<corozk_site>(std::move(o));
}

}  // namespace corozk::bench
