// SPDX-License-Identifier: Apache-2.0
#include "open_loop.hpp"

#include "raw_session.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <utility>

namespace corozk::bench {

namespace {

constexpr std::string_view node_data = "0123456789abcdef";
constexpr auto answer_limit = std::chrono::seconds(10);

}  // namespace

/// The C client's side of it. Answers come in the order of the requests.
struct open_loop::session {
    open_loop& loop;
    std::deque<clock::time_point> due;
    int result = ZOK;
    raw_session raw;  // tells the others of what is left when it closes

    explicit session(open_loop& l) : loop(l), raw(l.hosts_, l.session_timeout_ms_) {}

    void step(clock::time_point until) {
        std::array<raw_session*, 1> one{&raw};
        bench::step(one, until);
    }

    template <class Condition>
    void until(Condition holds) {
        auto limit = clock::now() + answer_limit;
        while (!holds() && !loop.over_) {
            if (clock::now() > limit)
                throw std::runtime_error("no ZooKeeper server answers at " + loop.hosts_);
            step(limit);
        }
    }

    void send(clock::time_point when) {
        due.push_back(when);
        if (loop.what_ == request::get) {
            expect(::zoo_aget(raw.handle, loop.node_.c_str(), 0, on_data, this), "get");
        } else {
            expect(::zoo_aset(raw.handle,
                              loop.node_.c_str(),
                              node_data.data(),
                              static_cast<int>(node_data.size()),
                              -1,
                              on_stat,
                              this),
                   "set");
        }
    }

    void answer(int code) {
        auto now = clock::now();
        if (code != ZOK && result == ZOK)
            result = code;
        std::lock_guard lock(loop.mutex_);
        loop.samples_.push_back({due.front(), now});
        due.pop_front();
    }

    static session& of(const void* context) {
        return *const_cast<session*>(static_cast<const session*>(context));
    }
    static void on_data(int code, const char*, int, const struct Stat*, const void* context) {
        of(context).answer(code);
    }
    static void on_stat(int code, const struct Stat*, const void* context) {
        of(context).answer(code);
    }
};

open_loop::open_loop(
    std::string hosts, std::string node, int session_timeout_ms, request what, double per_second)
    : hosts_(std::move(hosts)),
      node_(std::move(node)),
      session_timeout_ms_(session_timeout_ms),
      what_(what),
      period_(std::chrono::duration_cast<clock::duration>(
          std::chrono::duration<double>(1 / per_second))),
      thread_([this] { run(); }) {}

open_loop::~open_loop() {
    over_ = true;
    thread_.join();
}

bool open_loop::has_passed(clock::time_point t) const {
    std::lock_guard lock(mutex_);
    if (problem_)
        std::rethrow_exception(problem_);
    return !samples_.empty() && samples_.back().due >= t;
}

latencies open_loop::between(clock::time_point from, clock::time_point to) const {
    std::lock_guard lock(mutex_);
    latencies result;
    for (const sample& s : samples_) {
        if (s.due >= from && s.due < to)
            result.add(to_microseconds(s.answered - s.due));
    }
    return result;
}

std::size_t open_loop::answered(clock::time_point from, clock::time_point to) const {
    std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(samples_.begin(), samples_.end(), [&](const sample& s) {
            return s.answered >= from && s.answered < to;
        }));
}

void open_loop::run() {
    try {
        // Otherwise the kernel wakes it up to 50 us late.
        ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        session s(*this);
        s.until([&] { return s.raw.connected; });
        s.raw.synchronise(node_);
        s.until([&] { return s.raw.answered == s.raw.started; });
        expect(s.raw.result, "sync");
        for (auto next = clock::now() + period_; !over_;) {
            for (auto now = clock::now(); next <= now; next += period_)
                s.send(next);
            s.step(next);
            expect(s.result, "request");
        }
    } catch (...) {
        std::lock_guard lock(mutex_);
        problem_ = std::current_exception();
    }
}

}  // namespace corozk::bench
