// SPDX-License-Identifier: Apache-2.0
#include "safety/file_store.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

namespace {

/// One request of a storage service at a time: the machine's own lock, for a moment.
class moment_alone {
public:
    explicit moment_alone(const std::string& path)
        : fd_(::open((path + ".alone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0)
            throw std::system_error(errno, std::generic_category(), path);
    }
    ~moment_alone() { ::close(fd_); }
    moment_alone(const moment_alone&) = delete;
    moment_alone& operator=(const moment_alone&) = delete;

private:
    int fd_;
};

}  // namespace

std::string file_store::read() const {
    moment_alone now(path_);
    std::ifstream stream(path_);
    std::string token;
    std::getline(stream, token);
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool file_store::write(std::int64_t token, const std::string& text) const {
    moment_alone now(path_);
    if (check_token_ && token < largest_token())
        return false;
    std::ofstream stream(path_, std::ios::trunc);
    stream << token << '\n' << text << '\n';
    stream.close();
    if (!stream)
        throw std::runtime_error("cannot write " + path_);
    return true;
}

std::int64_t file_store::largest_token() const {
    std::int64_t token = 0;
    std::ifstream(path_) >> token;
    return token;
}

}  // namespace corozk::bench
