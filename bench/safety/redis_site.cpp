// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"
#include "safety/file_store.hpp"
#include "safety/site.hpp"
#include "systems/redis_connection.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <optional>
#include <random>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

constexpr auto polling_pause = std::chrono::milliseconds(10);

constexpr const char* give_back_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

constexpr const char* write_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[2], ARGV[2]) return 1 "
    "end return 0";

/// SET NX PX with a value that nobody else has, on one server. No number grows from one holder to
/// the next, but a script on that server can compare the value.
class redis_site : public site {
public:
    redis_site(const asio::any_io_executor& executor, site_options o)
        : options_(std::move(o)),
          timer_(executor),
          server_(executor, ports_of(options_.hosts).front()) {
        if (options_.by->store == "file")
            file_.emplace(options_.store, false);
    }

    asio::awaitable<void> connect() override { return server_.connect(); }

    asio::awaitable<void> make() override { co_return; }

    asio::awaitable<std::string> look() override {
        if (file_)
            co_return file_->read();
        auto found = co_await server_.ask(redis_words("GET", options_.store));
        if (found.null)
            co_return std::string();
        co_return found.text;
    }

    asio::awaitable<void> acquire() override {
        std::string time = std::to_string(options_.session_timeout.count());
        for (;;) {
            value_ = fmt::format("{:016x}{:016x}", random_(), random_());
            auto words = redis_words("SET", options_.lock_name, value_, "NX", "PX", time);
            auto granted = co_await server_.ask(std::move(words));
            if (!granted.null)
                co_return;
            timer_.expires_after(polling_pause);
            co_await timer_.async_wait(asio::use_awaitable);
        }
    }

    asio::awaitable<void> release() override {
        auto words = redis_words("EVAL", give_back_script, "1", options_.lock_name, value_);
        co_await server_.ask(std::move(words));
    }

    bool valid() const override { return true; }

    asio::awaitable<std::string> read() override { return look(); }

    asio::awaitable<write_outcome> write(std::string text) override {
        if (file_) {
            file_->write(0, text);
            co_return write_outcome::written;
        }
        auto words = redis_words("SET", options_.store, text);
        if (options_.by->guard == "script")
            words = redis_words(
                "EVAL", write_script, "2", options_.lock_name, options_.store, value_, text);
        auto answer = co_await server_.ask(std::move(words));
        bool refused = options_.by->guard == "script" && answer.number == 0;
        co_return refused ? write_outcome::refused : write_outcome::written;
    }

    asio::awaitable<void> close() override {
        server_.close();
        co_return;
    }

private:
    site_options options_;
    asio::steady_timer timer_;
    redis_connection server_;
    std::optional<file_store> file_;
    std::mt19937_64 random_{std::random_device{}()};
    std::string value_;
};

}  // namespace

std::unique_ptr<site> make_redis_site(const asio::any_io_executor& executor, site_options o) {
    return std::make_unique<redis_site>(executor, std::move(o));
}

}  // namespace corozk::bench
