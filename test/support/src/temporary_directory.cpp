// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/temporary_directory.hpp"

#include "system_failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace corozk::testing {
namespace {

namespace fs = std::filesystem;

constexpr auto name_prefix = "corozk-test-";
constexpr auto lock_name = ".owner";

fs::path base(storage where) {
    if (where == storage::memory && ::access("/dev/shm", W_OK | X_OK) == 0) {
        return "/dev/shm";
    }
    const char* configured = std::getenv("TMPDIR");
    return configured != nullptr && *configured != '\0' ? fs::absolute(configured)
                                                        : fs::path{"/tmp"};
}

/** Removes the folder at `path` if it is one of ours whose owner is gone. */
void remove_if_abandoned(const fs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
        return;
    }
    const int fd = ::open((path / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    ::close(fd);
}

void remove_abandoned(const fs::path& where) {
    std::error_code error;
    for (fs::directory_iterator entry{where, fs::directory_options::skip_permission_denied, error};
         !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        if (entry->path().filename().native().starts_with(name_prefix)) {
            remove_if_abandoned(entry->path());
        }
    }
}

/** Makes the lock file. It gets its final name only once it is locked, so nobody finds it free. */
int lock(const fs::path& directory) {
    const fs::path unfinished = directory / ".owner.new";
    const int fd = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        detail::fail(errno, "cannot create " + unfinished.native());
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 ||
        ::rename(unfinished.c_str(), (directory / lock_name).c_str()) != 0) {
        const int error = errno;
        ::close(fd);
        detail::fail(error, "cannot lock " + directory.native());
    }
    return fd;
}

}  // namespace

temporary_directory::temporary_directory(storage where) : owner_{::getpid()} {
    const fs::path parent = base(where);
    remove_abandoned(parent);
    std::string pattern = (parent / (std::string{name_prefix} + "XXXXXX")).native();
    if (::mkdtemp(pattern.data()) == nullptr) {
        detail::fail(errno, "cannot create a folder " + pattern);
    }
    path_ = pattern;
    try {
        lock_ = lock(path_);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        throw;
    }
}

temporary_directory::~temporary_directory() {
    if (::getpid() == owner_) {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ::close(lock_);
}

}  // namespace corozk::testing
