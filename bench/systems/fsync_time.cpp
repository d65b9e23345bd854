// SPDX-License-Identifier: Apache-2.0
#include "systems/fsync_time.hpp"

#include <corozk/testing/temporary_directory.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

latencies fsync_times() {
    constexpr int samples = 200;
    testing::temporary_directory folder(testing::storage::disk);
    auto path = folder.path() / "log";
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        throw std::system_error(errno, std::generic_category(), path);
    std::array<char, 200> record{};
    latencies times;
    for (int i = 0; i < samples; ++i) {
        auto began = clock::now();
        [[maybe_unused]] auto ignored = ::write(file, record.data(), record.size());
        ::fdatasync(file);
        times.add(to_microseconds(clock::now() - began));
    }
    ::close(file);
    return times;
}

}  // namespace corozk::bench
