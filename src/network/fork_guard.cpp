// SPDX-License-Identifier: Apache-2.0
#include "network/fork_guard.hpp"

#include <atomic>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <utility>

namespace corozk::detail {

namespace {

// Never destroyed: threads may outlive static objects. Recursive: loggers are called under it.
union lasting_mutex {
    std::recursive_mutex mutex;
    lasting_mutex() : mutex() {}
    ~lasting_mutex() {}
};

struct process_state {
    lasting_mutex lock;
    std::atomic<unsigned> forks{0};
};

process_state& state();

thread_local bool held_to_fork = false;

void before_fork() {
    constexpr int attempts = 100;
    for (int i = 0; i < attempts && !held_to_fork; ++i) {
        held_to_fork = state().lock.mutex.try_lock();
        timespec pause{0, 1'000'000};
        if (!held_to_fork)
            nanosleep(&pause, nullptr);
    }
}

void in_parent() {
    if (std::exchange(held_to_fork, false))
        state().lock.mutex.unlock();
}

void in_child() {
    held_to_fork = false;
    state().forks.fetch_add(1, std::memory_order_relaxed);
    // Its owner is not a thread of this process, as even this thread has a new id.
    ::new (static_cast<void*>(std::addressof(state().lock))) lasting_mutex;
}

process_state& state() {
    static process_state* const instance = [] {
        auto* made = new process_state;
        pthread_atfork(&before_fork, &in_parent, &in_child);
        return made;
    }();
    return *instance;
}

}  // namespace

fork_guard::fork_guard() {
    state().lock.mutex.lock();
}

fork_guard::~fork_guard() {
    state().lock.mutex.unlock();
}

unsigned forks() noexcept {
    return state().forks.load(std::memory_order_relaxed);
}

}  // namespace corozk::detail
