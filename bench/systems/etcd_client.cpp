// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"
#include "systems/etcd_api.hpp"
#include "systems/lease_keeper.hpp"
#include "systems/lock_client.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <vector>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Each to the next one of the servers, as a client library spreads them.
std::size_t next_server() {
    static std::size_t made = 0;
    return made++;
}

/// Of a request that failed: by another server, if there are several.
constexpr int most_attempts = 200;
constexpr auto failover_pause = std::chrono::milliseconds(50);

/// With the lock and the election that the server itself offers.
class etcd_client : public lock_client {
public:
    etcd_client(const asio::any_io_executor& executor, const lock_wish& wish)
        : wish_(wish), executor_(executor), ports_(ports_of(wish.hosts)), server_(next_server()) {
        api_.emplace(executor_, port());
    }

    asio::awaitable<void> connect() override {
        lease_ = co_await api_->grant_lease(wish_.timeout);
        keeper_.emplace(executor_, port(), lease_, wish_.timeout);
    }

    asio::awaitable<void> write() override { return api_->put(wish_.name + "-written", "data"); }

    /// Asking again with the same lease is no second acquisition.
    asio::awaitable<std::int64_t> acquire() override {
        return insist([this] { return acquire_once(); });
    }

    asio::awaitable<void> release() override {
        co_await insist([this] { return release_once(); });
    }

    asio::awaitable<void> hold() override { return keeper_->until_lost(); }

    asio::awaitable<std::size_t> contenders() override { return api_->count(wish_.name + "/"); }

    void close() override {
        closed_ = true;
        api_->close();
        keeper_.reset();
    }

private:
    std::uint16_t port() const { return ports_[server_ % ports_.size()]; }

    asio::awaitable<std::int64_t> acquire_once() {
        if (wish_.recipe == "election") {
            leader_ = co_await api_->campaign(wish_.name, lease_);
            co_return leader_.revision;
        }
        key_ = co_await api_->lock(wish_.name, lease_);
        co_return key_.revision;
    }

    asio::awaitable<std::int64_t> release_once() {
        if (wish_.recipe == "election") {
            co_await api_->resign(leader_.key);
        } else {
            co_await api_->unlock(key_.key);
        }
        co_return 0;
    }

    template <class Request>
    asio::awaitable<std::int64_t> insist(Request request) {
        for (int attempt = 1;; ++attempt) {
            // Whatever it awaited as it was closed: a request would connect again.
            if (closed_)
                throw boost::system::system_error(asio::error::operation_aborted);
            std::exception_ptr problem;
            try {
                co_return co_await request();
            } catch (const std::exception&) {
                problem = std::current_exception();
            }
            if (closed_ || ports_.size() == 1 || attempt == most_attempts)
                std::rethrow_exception(problem);
            ++server_;
            api_.emplace(executor_, port());
            asio::steady_timer timer(executor_, failover_pause);
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    lock_wish wish_;
    asio::any_io_executor executor_;
    std::vector<std::uint16_t> ports_;
    std::size_t server_;
    std::optional<etcd_api> api_;
    std::optional<lease_keeper> keeper_;
    std::int64_t lease_ = 0;
    etcd_key key_;
    etcd_leader leader_;
    bool closed_ = false;
};

}  // namespace

std::unique_ptr<lock_client> make_etcd_client(const asio::any_io_executor& executor,
                                              const lock_wish& wish) {
    return std::make_unique<etcd_client>(executor, wish);
}

}  // namespace corozk::bench
