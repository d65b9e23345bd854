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
#include <iterator>
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
    static const std::map<std::string, deed> all = {{"asked", deed::asked},
                                                    {"left", deed::left},
                                                    {"wrote", deed::wrote},
                                                    {"leads", deed::leads},
                                                    {"putting", deed::putting},
                                                    {"put", deed::put},
                                                    {"refused", deed::refused},
                                                    {"done", deed::done},
                                                    {"took", deed::took},
                                                    {"perhaps_took", deed::perhaps_took},
                                                    {"adding", deed::adding},
                                                    {"added", deed::added},
                                                    {"not_added", deed::not_added},
                                                    {"witnessed", deed::witnessed}};
    auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

bool is_about_an_item(deed what) {
    constexpr deed all[] = {
        deed::putting, deed::put, deed::refused, deed::done, deed::took, deed::perhaps_took};
    return std::find(std::begin(all), std::end(all), what) != std::end(all);
}

std::string client_of(const record& r) {
    return r.who.substr(0, r.who.find('.'));
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
        note_turn_of_client(words);
        return "ok";
    }
    if (what == "enter" || what == "use") {
        r.what = what == "enter" ? deed::entered : deed::used;
        words >> r.token;
        return answer_access(std::move(r));
    }
    auto known = deed_named(what);
    if (!known)
        return "what?";
    r.what = *known;
    if (r.what == deed::putting && refuses_items_)
        return "enough";
    if (is_about_an_item(r.what)) {
        words >> r.item;
    } else {
        words >> r.token >> r.number;
    }
    note(std::move(r));
    return "ok";
}

/// Told under the mutex.
std::string resource::answer_access(record r) {
    if (r.token < highest_) {
        r.what = deed::fenced;
        note(std::move(r));
        return "late";
    }
    highest_ = r.token;
    if (r.what == deed::entered && std::exchange(hold_next_, false))
        held_ = client_of(r);
    note(std::move(r));
    return "ok";
}

/// Told under the mutex.
void resource::note(record r) {
    ++done_so_far_[client_of(r)][r.what];
    history_.add(std::move(r));
}

history resource::told() const {
    std::lock_guard guard(mutex_);
    return history_;
}

resource::progress resource::done_so_far() const {
    std::lock_guard guard(mutex_);
    return done_so_far_;
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

void resource::settle() {
    std::lock_guard guard(mutex_);
    history_.add(record(deed::settled, "conductor"));
}

void resource::refuse_items() {
    std::lock_guard guard(mutex_);
    refuses_items_ = true;
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
void resource::note_turn_of_client(std::istream& words) {
    std::int64_t took = 0;
    std::int64_t in_kernel = 0;
    turns seen;
    words >> took >> in_kernel >> seen.of_clients.page_faults >> seen.of_clients.preemptions;
    seen.of_clients.took = std::chrono::nanoseconds(took);
    seen.of_clients.in_kernel = std::chrono::nanoseconds(in_kernel);
    note_turns(seen);
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
