// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace corozk::bench {

namespace {

/// How long this thread was ready to run and had no core, by the kernel's count
/// ("/proc/.../schedstat": time on a core, time waiting for one, turns). 0 for ever where the
/// kernel does not count.
class waiting_for_core {
public:
    waiting_for_core() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
    ~waiting_for_core() {
        if (file_ >= 0)
            ::close(file_);
    }
    waiting_for_core(const waiting_for_core&) = delete;
    waiting_for_core& operator=(const waiting_for_core&) = delete;

    std::uint64_t nanoseconds() const {
        char text[128];
        ssize_t n = file_ >= 0 ? ::pread(file_, text, sizeof text, 0) : 0;
        if (n <= 0)
            return 0;
        const char* end = text + n;
        const char* second = std::find(static_cast<const char*>(text), end, ' ');
        std::uint64_t result = 0;
        if (second != end)
            std::from_chars(second + 1, end, result);
        return result;
    }

private:
    int file_;
};

}  // namespace

struct watchdog::state {
    explicit state(boost::asio::any_io_executor e) : executor(std::move(e)) {}

    boost::asio::any_io_executor executor;
    waiting_for_core core;
    clock::time_point last = clock::now();
    std::uint64_t waited = core.nanoseconds();
    gap longest;
    bool stopped = false;
};

watchdog::watchdog(boost::asio::any_io_executor executor)
    : state_(std::make_shared<state>(std::move(executor))) {
    bark(state_);
}

watchdog::~watchdog() {
    state_->stopped = true;
}

void watchdog::bark(std::shared_ptr<state> s) {
    auto& executor = s->executor;
    boost::asio::post(executor, [s = std::move(s)]() mutable {
        if (s->stopped)
            return;
        auto now = clock::now();
        std::uint64_t waited = s->core.nanoseconds();
        double seen = to_seconds(now - s->last) * 1e3;
        double without = static_cast<double>(waited - s->waited) / 1e6;
        s->longest.seen_ms = std::max(s->longest.seen_ms, seen);
        s->longest.own_ms = std::max(s->longest.own_ms, seen - without);
        s->last = now;
        s->waited = waited;
        bark(std::move(s));
    });
}

watchdog::gap watchdog::take() {
    return std::exchange(state_->longest, gap());
}

}  // namespace corozk::bench
