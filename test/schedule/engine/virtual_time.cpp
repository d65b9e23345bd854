// SPDX-License-Identifier: Apache-2.0
#include "virtual_time.hpp"

#include "model/sockets.hpp"

#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <random>
#include <sys/timerfd.h>

namespace {

constexpr std::int64_t start_of_time = 1'000'000'000'000;  // ns

std::int64_t now_ns = start_of_time;
std::uint32_t random_word = 1;

/// Set while Asio is asked how long it would sleep.
boost::asio::io_context* asked = nullptr;
int would_sleep = 0;

void when_idle(int for_ms) {
    if (!asked)
        return;
    would_sleep = for_ms;
    asked->stop();
}

}  // namespace

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
    return time_point(duration(now_ns));
}

std::random_device::result_type std::random_device::_M_getval() {
    random_word = random_word * 1664525u + 1013904223u;
    return random_word;
}

void std::random_device::_M_init(const std::string&) {}

void std::random_device::_M_fini() {}

extern "C" int timerfd_create(int, int) noexcept {
    errno = EINVAL;
    return -1;
}

/// Nothing happens beside a schedule: no scenario needs a thread.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
    return EAGAIN;
}

namespace corozk::schedule {

void reset_time() {
    now_ns = start_of_time;
    random_word = 1;
    model::when_idle = when_idle;
}

std::int64_t elapsed() {
    return (now_ns - start_of_time) / 1'000'000;
}

void advance_time(std::int64_t ms) {
    now_ns += ms * 1'000'000;
}

void run_to_idle(boost::asio::io_context& context) {
    if (context.stopped())
        context.restart();
    context.poll();
}

std::optional<std::int64_t> until_next_timer(boost::asio::io_context& context) {
    constexpr int longest_sleep = 5 * 60 * 1000;  // Asio's, when there is no timer
    context.restart();
    asked = &context;
    would_sleep = 0;
    context.run();
    asked = nullptr;
    if (would_sleep <= 0 || would_sleep >= longest_sleep)
        return std::nullopt;
    return would_sleep;
}

}  // namespace corozk::schedule
