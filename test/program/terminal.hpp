// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program_run.hpp"
#include "terminal_picture.hpp"

#include <array>
#include <mutex>
#include <poll.h>
#include <pty.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace corozk::testing {

/// An interactive bash on a terminal of its own.
class terminal {
public:
    terminal() {
        std::string hosts = "COROZK_HOSTS=" + the_server().hosts();
        std::string path = std::string("PATH=") + std::getenv("PATH");
        std::array<char*, 5> environment{hosts.data(), path.data(), terminal_kind, prompt, nullptr};
        const char* words[] = {
            "bash", "--norc", "--noprofile", "--noediting", "+o", "history", "-i", nullptr};
        pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
        if (pid_ == 0) {
            ::execve("/bin/bash", const_cast<char**>(words), environment.data());
            ::_exit(127);
        }
        REQUIRE(pid_ > 0);
        shows("$ ");
    }

    ~terminal() {
        ::kill(pid_, SIGKILL);  // the terminal hangs up on the jobs
        ::close(fd_);
        ::waitpid(pid_, nullptr, 0);
    }

    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    void type(const std::string& keys) { REQUIRE(::write(fd_, keys.data(), keys.size()) > 0); }

    /// Waits until this is shown, behind what was waited for before.
    void shows(const std::string& text) {
        try {
            eventually([&] { return sees(text); }, program_limit, "the terminal to show " + text);
        } catch (const std::exception& e) {
            FAIL(e.what() << "; behind what was waited for before it shows: "
                          << shown_.substr(seen_));
        }
    }

    /// The same, without waiting.
    bool sees(const std::string& text) {
        pollfd ready{fd_, POLLIN, 0};
        while (::poll(&ready, 1, 0) > 0) {
            char part[4096];
            ssize_t size = ::read(fd_, part, sizeof part);
            if (size <= 0)
                break;
            shown_.append(part, static_cast<std::size_t>(size));
            picture_.add({part, static_cast<std::size_t>(size)});
        }
        auto found = shown_.find(text, seen_);
        if (found == std::string::npos)
            return false;
        seen_ = found + text.size();
        return true;
    }

    /// Waits until these words stand there, in this order.
    void has_picture(const std::vector<std::string>& words) {
        try {
            eventually([&] { return picture().has(words); }, program_limit, "the picture");
        } catch (const std::exception& e) {
            std::string wanted;
            for (const std::string& word : words)
                wanted += word + " | ";
            FAIL(e.what() << ": " << wanted << "in\n" << picture().text());
        }
    }

    /// What is to be seen now.
    const terminal_picture& picture() {
        sees("\xff");
        return picture_;
    }

    /// Changes the size of the window.
    void resize(std::size_t rows, std::size_t columns) {
        picture_.resize(rows, columns);
        winsize size{};
        size.ws_row = static_cast<unsigned short>(rows);
        size.ws_col = static_cast<unsigned short>(columns);
        REQUIRE(::ioctl(fd_, TIOCSWINSZ, &size) == 0);
    }

    /// Asks for the last command's exit code.
    void ended_with(int code) {
        type("echo code=$?.\n");
        shows("code=" + std::to_string(code) + ".");
    }

private:
    static inline char terminal_kind[] = "TERM=dumb";
    static inline char prompt[] = "PS1=$ ";

    pid_t pid_ = -1;
    int fd_ = -1;
    std::string shown_;
    terminal_picture picture_;
    std::size_t seen_ = 0;
};

}  // namespace corozk::testing
