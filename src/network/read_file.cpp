// SPDX-License-Identifier: Apache-2.0
#include "network/read_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace corozk::detail {

std::string read_file(const std::string& path, std::string& problem) {
    std::string content;
    std::array<char, 4096> piece;
    int error = 0;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        error = errno;
    while (error == 0) {
        const ssize_t n = ::read(file, piece.data(), piece.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            error = errno;
        if (n <= 0)
            break;
        content.append(piece.data(), static_cast<std::size_t>(n));
    }
    ::explicit_bzero(piece.data(), piece.size());
    if (file >= 0)
        ::close(file);
    if (error != 0) {
        problem = error == EISDIR ? "it is a directory" : std::generic_category().message(error);
        content.clear();
    }
    return content;
}

}  // namespace corozk::detail
