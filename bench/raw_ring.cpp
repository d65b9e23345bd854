// SPDX-License-Identifier: Apache-2.0
#include "raw_ring.hpp"

#include "raw_session.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <sys/epoll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace corozk::bench {

namespace {

constexpr std::size_t in_flight = 500;
/// How often the C client is asked whether it wants to send a ping.
constexpr auto refresh_interval = std::chrono::seconds(1);
constexpr int longest_sleep_ms = 10;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

/// A session, and how it is polled for.
struct raw_ring::seat : raw_session {
    using raw_session::raw_session;

    int descriptor = -1;
    std::uint32_t polled_for = 0;
};

/// One node of a session: what waits for its turn, and passes that on.
struct raw_ring::contender {
    contender(raw_ring& r, seat& s, std::size_t n, std::string p)
        : ring(r), at(s), number(n), path(std::move(p)), turn(path + "-turn") {}

    raw_ring& ring;
    seat& at;
    std::size_t number;
    std::string path;
    std::string turn;       ///< what announces that it is its turn
    std::size_t looks = 0;  ///< on their way
    // The C client uses them until the transaction is answered.
    std::array<zoo_op_t, 4> steps{};
    std::array<zoo_op_result_t, 4> results{};
    std::array<char, 256> created{};

    void looked(int code) {
        --looks;
        at.answer(code == ZNONODE ? ZOK : code);
    }

    static contender& of(const void* context) {
        return *const_cast<contender*>(static_cast<const contender*>(context));
    }
    static void on_stat(int code, const struct Stat*, const void* context) {
        of(context).looked(code);
    }
    static void on_data(int code, const char*, int, const struct Stat*, const void* context) {
        of(context).looked(code);
    }
    static void on_turn(zhandle_t*, int type, int, const char*, void* context) {
        contender& c = of(context);
        if (type != c.ring.awaited_)
            return;
        c.ring.holder_ = c.number;
        c.ring.told_at_ = clock::now();
    }
    static void on_own(zhandle_t*, int, int, const char*, void*) {}
};

raw_ring::raw_ring(const std::string& hosts,
                   std::string folder,
                   int session_timeout_ms,
                   std::size_t sessions)
    : folder_(std::move(folder)) {
    for (std::size_t i = 0; i < sessions; ++i)
        seats_.push_back(std::make_unique<seat>(hosts, session_timeout_ms));
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0)
        fail("epoll_create1");
    try {
        connect();
    } catch (...) {
        ::close(epoll_);
        throw;
    }
}

raw_ring::~raw_ring() {
    ::close(epoll_);
}

void raw_ring::connect() {
    auto all_are_connected = [this] {
        for (const auto& s : seats_) {
            if (!s->connected)
                return false;
        }
        return true;
    };
    auto limit = clock::now() + raw_patience;
    while (!all_are_connected()) {
        if (clock::now() > limit)
            throw std::runtime_error("the C client's sessions do not connect");
        for (auto& s : seats_) {
            if (!s->connected)
                refresh(*s);
        }
        step();
    }
}

/// What the C client wants to be told of changes with each call of it.
void raw_ring::refresh(seat& s) {
    int descriptor = -1;
    int interest = 0;
    timeval limit{};
    int code = ::zookeeper_interest(s.handle, &descriptor, &interest, &limit);
    if (s.connected)
        expect(code, "connection");
    if (descriptor < 0)
        return;
    std::uint32_t wanted = 0;
    if (interest & ZOOKEEPER_READ)
        wanted |= EPOLLIN;
    if (interest & ZOOKEEPER_WRITE)
        wanted |= EPOLLOUT;
    // While it connects, another socket may have the same number.
    if (s.connected && descriptor == s.descriptor && wanted == s.polled_for)
        return;
    epoll_event event{};
    event.events = wanted;
    event.data.ptr = &s;
    if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) != 0 &&
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        fail("epoll_ctl");
    }
    s.descriptor = descriptor;
    s.polled_for = wanted;
}

void raw_ring::step() {
    std::array<epoll_event, 64> ready{};
    int count =
        ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), longest_sleep_ms);
    heard_ = heard_ || count > 0;
    for (int i = 0; i < count; ++i) {
        const epoll_event& e = ready[static_cast<std::size_t>(i)];
        seat& s = *static_cast<seat*>(e.data.ptr);
        bool was_connected = s.connected;
        int events = 0;
        if (e.events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            events |= ZOOKEEPER_READ;
        if (e.events & EPOLLOUT)
            events |= ZOOKEEPER_WRITE;
        ::zookeeper_process(s.handle, events);
        if (was_connected && !s.connected)
            throw std::runtime_error("C client: the connection broke");
        expect(s.result, "request");
        refresh(s);
    }
    if (auto now = clock::now(); now - refreshed_at_ > refresh_interval) {
        refreshed_at_ = now;
        const bool silent = !std::exchange(heard_, false);
        for (auto& s : seats_) {
            if (silent)
                s->nudge();
            refresh(*s);
        }
    }
}

template <class Condition>
void raw_ring::until(Condition holds) {
    if (holds())
        return;
    auto limit = clock::now() + raw_patience;
    while (!holds()) {
        if (clock::now() > limit)
            throw std::runtime_error("C client: no further progress");
        step();
    }
}

/// Until everything is answered.
void raw_ring::settle() {
    for (auto& s : seats_) {
        until([&s] { return s->answered == s->started; });
        expect(s->result, "request");
    }
}

void raw_ring::create(contender& c) {
    ++c.at.started;
    expect(::zoo_acreate(c.at.handle,
                         c.path.c_str(),
                         "",
                         0,
                         &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL,
                         raw_session::on_name,
                         static_cast<raw_session*>(&c.at)),
           "create");
}

void raw_ring::watch_turn(contender& c, const std::string& path) {
    ++c.at.started;
    ++c.looks;
    expect(
        ::zoo_awexists(c.at.handle, path.c_str(), contender::on_turn, &c, contender::on_stat, &c),
        "exists");
}

void raw_ring::watch_own(contender& c) {
    ++c.at.started;
    ++c.looks;
    expect(::zoo_awget(
               c.at.handle, c.path.c_str(), contender::on_own, nullptr, contender::on_data, &c),
           "get");
}

void raw_ring::watch_both(contender& c) {
    watch_own(c);
    watch_turn(c, c.turn);
}

/// All nodes, in the order of their turns, and the watches that are there when the first one
/// begins.
void raw_ring::queue(form how, std::size_t turns) {
    contenders_.clear();
    ++rounds_;
    for (std::size_t k = 0; k <= turns; ++k) {
        // As long as the names of corozk's locks.
        std::string path =
            fmt::format("{}/ring-{:08}-1234-1234-123456789abc-lock-{:010}", folder_, rounds_, k);
        contenders_.push_back(
            std::make_unique<contender>(*this, *seats_[k % seats_.size()], k, std::move(path)));
        create(*contenders_.back());
        if (k % in_flight == 0)
            settle();
    }
    settle();
    for (auto& s : seats_)
        s->synchronise(folder_);
    settle();
    bool announced = how == form::announce || how == form::announce_watch;
    awaited_ = announced ? ZOO_CREATED_EVENT : ZOO_DELETED_EVENT;
    for (std::size_t k = 1; k <= turns; ++k) {
        contender& c = *contenders_[k];
        switch (how) {
            case form::erase:
            case form::check_erase: watch_turn(c, contenders_[k - 1]->path); break;
            case form::announce: watch_turn(c, c.turn); break;
            case form::announce_watch:
                if (k < seats_.size())  // the others' when their sessions pass it on
                    watch_both(c);
                break;
        }
        if (k % in_flight == 0)
            settle();
    }
    settle();
}

void raw_ring::erase(contender& c) {
    ++c.at.started;
    expect(::zoo_adelete(c.at.handle,
                         c.path.c_str(),
                         -1,
                         raw_session::on_nothing,
                         static_cast<raw_session*>(&c.at)),
           "delete");
}

void raw_ring::pass(form how, contender& from, const contender& to) {
    if (how == form::erase)
        return erase(from);
    seat& s = from.at;
    int count = 0;
    auto next = [&]() -> zoo_op_t* { return &from.steps[static_cast<std::size_t>(count++)]; };
    ::zoo_check_op_init(next(), to.path.c_str(), -1);
    if (how != form::check_erase) {
        ::zoo_create_op_init(next(),
                             to.turn.c_str(),
                             "",
                             0,
                             &ZOO_OPEN_ACL_UNSAFE,
                             ZOO_EPHEMERAL,
                             from.created.data(),
                             static_cast<int>(from.created.size()));
        ::zoo_delete_op_init(next(), to.turn.c_str(), -1);
    }
    ::zoo_delete_op_init(next(), from.path.c_str(), -1);
    ++s.started;
    expect(::zoo_amulti(s.handle,
                        count,
                        from.steps.data(),
                        from.results.data(),
                        raw_session::on_nothing,
                        static_cast<raw_session*>(&s)),
           "transaction");
    if (how == form::announce_watch) {
        std::size_t later = from.number + seats_.size();
        if (later < contenders_.size())
            watch_both(*contenders_[later]);
    }
}

latencies raw_ring::pass_on(form how, std::size_t turns) {
    queue(how, turns);
    holder_ = 0;
    latencies result;
    result.reserve(turns);
    for (std::size_t k = 0; k < turns; ++k) {
        if (on_progress && k % 100 == 0)
            on_progress(k, turns);
        contender& to = *contenders_[k + 1];
        until([&to] { return to.looks == 0; });
        auto began = clock::now();
        pass(how, *contenders_[k], to);
        until([this, k] { return holder_ == k + 1; });
        result.add(to_microseconds(told_at_ - began));
    }
    erase(*contenders_.back());
    settle();
    return result;
}

}  // namespace corozk::bench
