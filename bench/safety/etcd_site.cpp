// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"
#include "safety/file_store.hpp"
#include "safety/site.hpp"
#include "systems/etcd_api.hpp"
#include "systems/lease_keeper.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Before something is tried again with another lease.
constexpr auto lease_pause = std::chrono::milliseconds(20);

/// The lock of etcd's own lock service. Its key exists as long as it is held: the revision at which
/// it was made is the fencing token, and a transaction can compare it.
class etcd_site : public site {
public:
    etcd_site(const asio::any_io_executor& executor, site_options o)
        : options_(std::move(o)),
          executor_(executor),
          port_(ports_of(options_.hosts).front()),
          api_(executor, port_) {
        if (options_.by->store == "file")
            file_.emplace(options_.store, options_.by->guard == "token");
    }

    asio::awaitable<void> connect() override {
        std::int64_t lease = co_await api_.grant_lease(options_.session_timeout);
        keeper_.emplace(executor_, port_, lease, options_.session_timeout);
        lease_ = lease;
    }

    asio::awaitable<void> make() override { co_return; }

    asio::awaitable<std::string> look() override {
        if (file_)
            co_return file_->read();
        co_return co_await api_.get(options_.store);
    }

    asio::awaitable<void> acquire() override {
        for (;;) {
            bool held = co_await acquired();
            if (held)
                co_return;
            asio::steady_timer timer(executor_, lease_pause);
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    asio::awaitable<void> release() override {
        try {
            co_await api_.unlock(key_);
        } catch (const std::exception&) {
            api_.close();  // it goes with the lease
        }
    }

    bool valid() const override { return !keeper_->lost(); }

    asio::awaitable<std::string> read() override { return look(); }

    asio::awaitable<write_outcome> write(std::string text) override {
        if (file_) {
            bool written = file_->write(token_, text);
            co_return written ? write_outcome::written : write_outcome::refused;
        }
        try {
            if (options_.by->guard == "transaction") {
                bool written =
                    co_await api_.put_guarded(key_, token_, options_.store, std::move(text));
                co_return written ? write_outcome::written : write_outcome::refused;
            }
            co_await api_.put(options_.store, std::move(text));
        } catch (const std::exception&) {
            api_.close();
            co_return write_outcome::unknown;
        }
        co_return write_outcome::written;
    }

    asio::awaitable<void> close() override {
        keeper_.reset();
        api_.close();
        co_return;
    }

private:
    asio::awaitable<bool> acquired() {
        try {
            if (keeper_->lost())
                co_await connect();
            auto held = co_await api_.lock(options_.lock_name, lease_);
            key_ = held.key;
            token_ = co_await api_.create_revision(key_);
            co_return token_ > 0;
        } catch (const std::exception&) {
            api_.close();
        }
        try {
            co_await connect();
        } catch (const std::exception&) {
            api_.close();
        }
        co_return false;
    }

    site_options options_;
    asio::any_io_executor executor_;
    std::uint16_t port_;
    etcd_api api_;
    std::optional<file_store> file_;
    std::optional<lease_keeper> keeper_;
    std::int64_t lease_ = 0;
    std::string key_;
    std::int64_t token_ = 0;
};

}  // namespace

std::unique_ptr<site> make_etcd_site(const asio::any_io_executor& executor, site_options o) {
    return std::make_unique<etcd_site>(executor, std::move(o));
}

}  // namespace corozk::bench
