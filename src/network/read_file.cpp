// SPDX-License-Identifier: Apache-2.0
#include "network/read_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace corozk::detail {

namespace {

// In milliseconds, for the writer of a pipe.
constexpr int longest_wait = 1000;

/// @return an `errno` value, or 0
int read_all(int file, std::string& content) {
    std::array<char, 4096> piece;
    int error = 0;
    for (bool more = true; more;) {
        ::pollfd input{file, POLLIN, 0};
        if (::poll(&input, 1, longest_wait) == 0)
            return ETIMEDOUT;
        const ssize_t n = ::read(file, piece.data(), piece.size());
        const bool again = n < 0 && (errno == EINTR || errno == EAGAIN);
        if (n > 0)
            content.append(piece.data(), static_cast<std::size_t>(n));
        else if (!again)
            error = n < 0 ? errno : 0;
        more = n > 0 || again;
    }
    ::explicit_bzero(piece.data(), piece.size());
    return error;
}

std::string in_words(int error) {
    if (error == EISDIR)
        return "it is a directory";
    if (error == ETIMEDOUT)
        return "it is a pipe into which nothing was written in time";
    return std::generic_category().message(error);
}

}  // namespace

std::string read_file(const std::string& path, std::string& problem) {
    std::string content;
    // Not blocked by a named pipe without a writer.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = file < 0 ? errno : read_all(file, content);
    if (file >= 0)
        ::close(file);
    if (error != 0) {
        problem = in_words(error);
        content.clear();
    }
    return content;
}

}  // namespace corozk::detail
