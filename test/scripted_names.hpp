// SPDX-License-Identifier: Apache-2.0
// A name service that answers when a test wants it to. The C library's look-up is replaced for the
// program: include it in one file of a program of its own (the word ALONE).
#pragma once

#include <corozk/testing/eventually.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string>
#include <string_view>

namespace corozk::testing {

/// Look-ups of names below ".unanswered" wait until they are let go; "good.test" is this machine, and
/// so are "slow.test" and names below it, which wait in the same way.
struct name_service {
    std::mutex mutex;
    std::condition_variable changed;
    bool answers = true;
    int waiting = 0;
    int most_waiting = 0;
    int asked = 0;

    void set(bool on) {
        std::lock_guard lock(mutex);
        answers = on;
        changed.notify_all();
    }
    int most_waiters() {
        std::lock_guard lock(mutex);
        return most_waiting;
    }
    int questions() {
        std::lock_guard lock(mutex);
        return asked;
    }
    int waiters() {
        std::lock_guard lock(mutex);
        return waiting;
    }
};

/// A name that nobody has asked for. A look-up joins one of the same name that is under way, and one
/// that has been let go is under way until its thread has told the library.
inline std::string new_name(const std::string& below) {
    static int last = 0;
    return "n" + std::to_string(++last) + "." + below;
}

inline name_service& names() {
    static name_service instance;
    return instance;
}

/// The next test begins with none that waits.
struct answers_at_end {
    ~answers_at_end() {
        names().set(true);
        eventually([] { return names().waiters() == 0; },
                   std::chrono::seconds(20),
                   "the end of all look-ups");
    }
};

extern "C" int getaddrinfo(const char* node,
                           const char* service,
                           const addrinfo* hints,
                           addrinfo** result) {
    using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static auto original = reinterpret_cast<function>(dlsym(RTLD_NEXT, "getaddrinfo"));
    bool slow = node && std::string_view(node).ends_with("slow.test");
    if (slow || (node && std::strcmp(node, "good.test") == 0))
        node = "127.0.0.1";
    if (slow || (node && std::strstr(node, ".unanswered"))) {
        name_service& n = names();
        std::unique_lock lock(n.mutex);
        ++n.asked;
        n.most_waiting = std::max(n.most_waiting, ++n.waiting);
        n.changed.wait(lock, [&n] { return n.answers; });
        --n.waiting;
        if (!slow)
            return EAI_AGAIN;
    }
    return original(node, service, hints, result);
}

}  // namespace corozk::testing
