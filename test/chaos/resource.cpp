// SPDX-License-Identifier: Apache-2.0
#include "resource.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <optional>
#include <sstream>

namespace corozk::chaos {

namespace asio = boost::asio;
using asio::ip::tcp;

struct resource::impl {
    explicit impl(resource& owner_)
        : owner(owner_), acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

    asio::awaitable<void> accept() {
        for (;;) {
            auto [ec, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
            if (ec)
                co_return;
            asio::co_spawn(context, serve(std::move(socket)), asio::detached);
        }
    }

    asio::awaitable<void> serve(tcp::socket socket) {
        std::string buffer;
        for (;;) {
            auto [ec, size] = co_await asio::async_read_until(
                socket, asio::dynamic_buffer(buffer), '\n', asio::as_tuple(asio::use_awaitable));
            if (ec)
                co_return;
            std::string reply = owner.answer(buffer.substr(0, size - 1)) + "\n";
            buffer.erase(0, size);
            auto [failed, sent] = co_await asio::async_write(
                socket, asio::buffer(reply), asio::as_tuple(asio::use_awaitable));
            if (failed)
                co_return;
        }
    }

    resource& owner;
    asio::io_context context;
    tcp::acceptor acceptor;
    std::thread thread;
};

namespace {

std::optional<deed> deed_named(const std::string& name) {
    static const std::map<std::string, deed> all = {{"left", deed::left},
                                                    {"wrote", deed::wrote},
                                                    {"leads", deed::leads},
                                                    {"putting", deed::putting},
                                                    {"put", deed::put},
                                                    {"refused", deed::refused},
                                                    {"adding", deed::adding},
                                                    {"added", deed::added},
                                                    {"not_added", deed::not_added}};
    auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

resource::resource() : impl_(std::make_unique<impl>(*this)) {
    port_ = impl_->acceptor.local_endpoint().port();
    asio::co_spawn(impl_->context, impl_->accept(), asio::detached);
    impl_->thread = std::thread([this] { impl_->context.run(); });
}

resource::~resource() {
    impl_->context.stop();
    impl_->thread.join();
}

std::string resource::answer(const std::string& line) {
    std::istringstream words(line);
    record r;
    std::string what;
    words >> r.who >> what;
    std::lock_guard guard(mutex_);
    if (what == "turn") {
        std::int64_t nanoseconds = 0;
        words >> nanoseconds;
        longest_turn_ = std::max(longest_turn_, std::chrono::nanoseconds(nanoseconds));
        return "ok";
    }
    if (what == "enter" || what == "use") {
        words >> r.token;
        bool late = r.token < highest_;
        r.what = late ? deed::fenced : what == "enter" ? deed::entered : deed::used;
        highest_ = std::max(highest_, r.token);
        if (r.what == deed::entered) {
            owner_ = r.who.substr(0, r.who.find('.'));
            ++entries_[owner_];
        }
        history_.add(std::move(r));
        return late ? "late" : "ok";
    }
    auto known = deed_named(what);
    if (!known)
        return "what?";
    r.what = *known;
    if (r.what == deed::putting || r.what == deed::put || r.what == deed::refused) {
        words >> r.item;
    } else {
        words >> r.token >> r.number;
    }
    if (r.what == deed::left && r.token == highest_)
        owner_.clear();
    history_.add(std::move(r));
    return "ok";
}

history resource::told() const {
    std::lock_guard guard(mutex_);
    return history_;
}

std::map<std::string, std::size_t> resource::entries() const {
    std::lock_guard guard(mutex_);
    return entries_;
}

std::string resource::owner() const {
    std::lock_guard guard(mutex_);
    return owner_;
}

std::chrono::nanoseconds resource::longest_turn() const {
    std::lock_guard guard(mutex_);
    return longest_turn_;
}

}  // namespace corozk::chaos
