// SPDX-License-Identifier: Apache-2.0
// with_server PROGRAM ARGUMENT...: runs a program against a ZooKeeper of its own. "@HOSTS@" among
// the arguments becomes the server's address. The exit code is the program's. Signals to end are passed on, and
// the program is told to end if this one is killed.
#include <corozk/testing/server.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

volatile std::sig_atomic_t child = 0;

void pass_on(int signal) {
    if (child != 0)
        ::kill(child, signal);
}

/// In the child. Its parent may be gone already.
[[noreturn]] void become(char* const* arguments, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent)
        ::execv(arguments[0], arguments);
    std::fprintf(stderr, "with_server: cannot run %s\n", arguments[0]);
    ::_exit(2);
}

/// @return its status, or -1
int end_of(pid_t program) {
    int status = 0;
    while (::waitpid(program, &status, 0) != program) {
        if (errno != EINTR)
            return -1;
    }
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: with_server PROGRAM ARGUMENT...\n");
        return 2;
    }
    try {
        corozk::testing::server server;
        std::vector<std::string> arguments(argv + 1, argv + argc);
        for (std::string& a : arguments) {
            if (a == "@HOSTS@")
                a = server.hosts();
        }
        std::vector<char*> pointers;
        for (std::string& a : arguments)
            pointers.push_back(a.data());
        pointers.push_back(nullptr);
        const pid_t self = ::getpid();
        const pid_t program = ::fork();
        if (program == 0)
            become(pointers.data(), self);
        if (program < 0) {
            std::perror("with_server: fork");
            return 2;
        }
        child = program;
        std::signal(SIGTERM, pass_on);
        std::signal(SIGINT, pass_on);
        const int status = end_of(program);
        child = 0;
        if (status < 0)
            return 2;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        std::fprintf(stderr, "with_server: %s ended by signal %d\n", pointers[0], WTERMSIG(status));
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "with_server: %s\n", e.what());
        return 2;
    }
}
