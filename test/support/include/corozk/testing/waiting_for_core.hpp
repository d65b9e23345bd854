// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>

namespace corozk::testing {

/**
 * @brief How long the thread that made it was ready to run and had no core, by the kernel's count
 * ("/proc/.../schedstat": time on a core, time waiting for one, turns). 0 for ever where the kernel
 * does not count.
 *
 * Thread safety: of the thread that made it.
 */
class waiting_for_core {
public:
    waiting_for_core() : file_{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)} {}
    ~waiting_for_core() {
        if (file_ >= 0) {
            ::close(file_);
        }
    }
    waiting_for_core(const waiting_for_core&) = delete;
    waiting_for_core& operator=(const waiting_for_core&) = delete;

    std::chrono::nanoseconds total() const {
        char text[128];
        const ssize_t n = file_ >= 0 ? ::pread(file_, text, sizeof text, 0) : 0;
        if (n <= 0) {
            return {};
        }
        const char* const end = text + n;
        const char* const second = std::find(static_cast<const char*>(text), end, ' ');
        std::int64_t waited = 0;
        if (second != end) {
            std::from_chars(second + 1, end, waited);
        }
        return std::chrono::nanoseconds{waited};
    }

private:
    int file_;
};

}  // namespace corozk::testing
