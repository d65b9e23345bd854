// SPDX-License-Identifier: Apache-2.0
#include "network/read_file.hpp"

#include <corozk/testing/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corozk::testing::read_file_test {

using detail::read_file;

namespace {

/// Of this process, those that refer to this file.
std::vector<int> descriptors_of(const std::string& path) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone) == path && !gone)
            found.push_back(std::atoi(entry.path().filename().c_str()));
    }
    return found;
}

}  // namespace

TEST_CASE("read_file: all of it, of any size and content") {
    temporary_directory folder;
    const std::string path = (folder.path() / "f").string();
    const std::size_t size = GENERATE(std::size_t(0), 1u, 4096u, 4097u, 100'000u);
    std::string text(size, 'x');
    if (size > 1)
        text[1] = '\0';
    std::ofstream(path, std::ios::binary) << text;
    std::string problem;
    CHECK(read_file(path, problem) == text);
    CHECK(problem == "");
}

TEST_CASE("read_file: why it cannot be read") {
    std::string problem;
    CHECK(read_file("/none", problem) == "");
    CHECK(problem == "No such file or directory");
    CHECK(read_file("/", problem) == "");
    CHECK(problem == "it is a directory");
}

TEST_CASE("read_file: a pipe without a writer blocks for a moment only") {
    temporary_directory folder;
    const std::string path = (folder.path() / "pipe").string();
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    std::string problem;
    CHECK(read_file(path, problem) == "");
    CHECK(problem == "it is a pipe that was not written to its end in time");
}

TEST_CASE("read_file: what has no end is refused") {
    std::string problem;
    CHECK(read_file("/dev/zero", problem) == "");
    CHECK(problem == "it is larger than 16 MiB, or has no end");
}

TEST_CASE("read_file: a pipe that is written to for ever blocks for a moment only") {
    temporary_directory folder;
    const std::string path = (folder.path() / "pipe").string();
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int pipe = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::atomic<bool> ended = false;
    // Byte by byte, as the reader reads them.
    std::thread writer([&] {
        for (int unread = 0; !ended; ::ioctl(pipe, FIONREAD, &unread)) {
            if (unread > 0 || ::write(pipe, "s", 1) != 1)
                std::this_thread::yield();
        }
    });
    std::string problem;
    CHECK(read_file(path, problem) == "");
    ended = true;
    writer.join();
    ::close(pipe);
    CHECK(problem == "it is a pipe that was not written to its end in time");
}

TEST_CASE("read_file: a program that is started meanwhile does not inherit the descriptor") {
    temporary_directory folder;
    const std::string path = (folder.path() / "secret").string();
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::atomic<bool> ended = false;
    std::string text;
    std::thread reader([&] {
        std::string problem;
        text = read_file(path, problem);
        ended = true;
    });
    std::vector<int> open;
    while (open.size() < 2 && !ended)
        open = descriptors_of(path);
    const bool all_closed = std::all_of(open.begin(), open.end(), [](int descriptor) {
        return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
    });
    const bool written = ::write(writer, "s", 1) == 1;
    ::close(writer);
    reader.join();
    CHECK(open.size() == 2);
    CHECK(all_closed);
    CHECK(written);
    CHECK(text == "s");
}

}  // namespace corozk::testing::read_file_test
