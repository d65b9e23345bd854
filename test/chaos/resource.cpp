// SPDX-License-Identifier: Apache-2.0
#include "resource.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

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
            std::string line = buffer.substr(0, size - 1);
            std::string reply = owner.answer(line) + "\n";
            buffer.erase(0, size);
            asio::steady_timer moment(context);
            while (owner.holds(line)) {
                moment.expires_after(std::chrono::milliseconds(2));
                co_await moment.async_wait(asio::as_tuple(asio::use_awaitable));
            }
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
                                                    {"witnessed", deed::witnessed},
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
        std::int64_t took = 0;
        std::int64_t in_kernel = 0;
        turns seen;
        words >> took >> in_kernel >> seen.of_clients.page_faults >> seen.of_clients.preemptions;
        seen.of_clients.took = std::chrono::nanoseconds(took);
        seen.of_clients.in_kernel = std::chrono::nanoseconds(in_kernel);
        note_turns(seen);
        return "ok";
    }
    if (what == "enter" || what == "use") {
        words >> r.token;
        bool late = r.token < highest_;
        r.what = late ? deed::fenced : what == "enter" ? deed::entered : deed::used;
        highest_ = std::max(highest_, r.token);
        if (r.what == deed::entered) {
            std::string client = r.who.substr(0, r.who.find('.'));
            ++entries_[client];
            if (std::exchange(hold_next_, false))
                held_ = client;
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

std::int64_t resource::highest() const {
    std::lock_guard guard(mutex_);
    return highest_;
}

void resource::hold_next_entry() {
    std::lock_guard guard(mutex_);
    hold_next_ = held_.empty();
}

std::string resource::held() const {
    std::lock_guard guard(mutex_);
    return held_;
}

void resource::let_go() {
    std::lock_guard guard(mutex_);
    hold_next_ = false;
    held_.clear();
}

bool resource::holds(const std::string& line) const {
    std::lock_guard guard(mutex_);
    return !held_.empty() && line.starts_with(held_ + ".") &&
           line.find(" enter ") != std::string::npos;
}

void resource::begin_of(const std::string& fault) {
    std::lock_guard guard(mutex_);
    ++effects_[fault].under_way;
}

void resource::end_of(const std::string& fault) {
    constexpr auto aftermath = std::chrono::seconds(1);
    std::lock_guard guard(mutex_);
    effect& of_it = effects_[fault];
    --of_it.under_way;
    of_it.until = clock::now() + aftermath;
}

/// Told under the mutex.
void resource::note_turns(const turns& seen) {
    auto note = [&](effect& of_it) {
        if (seen.of_clients.took > of_it.longest.of_clients.took)
            of_it.longest.of_clients = seen.of_clients;
        of_it.longest.of_nobody = std::max(of_it.longest.of_nobody, seen.of_nobody);
    };
    bool calm = true;
    for (auto& [fault, of_it] : effects_) {
        if (of_it.under_way == 0 && of_it.until <= clock::now())
            continue;
        note(of_it);
        calm = false;
    }
    if (calm)
        note(effects_[""]);
}

void resource::note_turn_of_nobody(std::chrono::nanoseconds turn) {
    turns seen;
    seen.of_nobody = turn;
    std::lock_guard guard(mutex_);
    note_turns(seen);
}

std::map<std::string, resource::turns> resource::longest_turns() const {
    std::lock_guard guard(mutex_);
    std::map<std::string, turns> longest;
    for (const auto& [fault, of_it] : effects_)
        longest[fault] = of_it.longest;
    return longest;
}

}  // namespace corozk::chaos
