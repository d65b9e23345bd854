// SPDX-License-Identifier: Apache-2.0
#include "network/read_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace corozk::detail {

namespace {

constexpr std::size_t largest_file = 16UL * 1024 * 1024;

bool is_regular(int file) {
    struct ::stat status {};
    return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/// Waits until there is something to read, or the end.
bool wait_for_input(int file, std::chrono::steady_clock::time_point deadline) {
    using std::chrono::milliseconds;
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto wait = std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
    if (left < left.zero() && !is_regular(file))
        return false;  // whose writer may never end
    ::pollfd input{file, POLLIN, 0};
    return ::poll(&input, 1, static_cast<int>(wait.count())) != 0;
}

/// @return an `errno` value, or 0
int read_all(int file, std::chrono::milliseconds patience, std::string& content) {
    std::array<char, 4096> piece;
    int error = 0;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (bool more = true; more;) {
        if (!wait_for_input(file, deadline)) {
            error = ETIMEDOUT;
            break;
        }
        const ssize_t n = ::read(file, piece.data(), piece.size());
        const bool again = n < 0 && (errno == EINTR || errno == EAGAIN);
        if (n > 0)
            content.append(piece.data(), static_cast<std::size_t>(n));
        else if (!again)
            error = n < 0 ? errno : 0;
        if (content.size() > largest_file)
            error = EFBIG;
        more = error == 0 && (n > 0 || again);
    }
    ::explicit_bzero(piece.data(), piece.size());
    return error;
}

std::string in_words(int error) {
    if (error == EISDIR)
        return "it is a directory";
    if (error == EFBIG)
        return "it is larger than 16 MiB, or has no end";
    if (error == ETIMEDOUT)
        return "it is a pipe that was not written to its end in time";
    return std::generic_category().message(error);
}

}  // namespace

std::string read_file(const std::string& path,
                      std::string& problem,
                      std::chrono::milliseconds patience) {
    std::string content;
    // Not blocked by a named pipe without a writer.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = file < 0 ? errno : read_all(file, patience, content);
    if (file >= 0)
        ::close(file);
    if (error != 0) {
        problem = in_words(error);
        content.clear();
    }
    return content;
}

}  // namespace corozk::detail
