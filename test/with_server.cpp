// SPDX-License-Identifier: Apache-2.0
// with_server PROGRAM ARGUMENT...: runs a program against a ZooKeeper of its own. "@HOSTS@" among
// the arguments becomes the server's address. The exit code is the program's.
#include <corozk/testing/server.hpp>

#include <cstdio>
#include <exception>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

extern char** environ;

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
        pid_t child = 0;
        if (::posix_spawn(&child, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0) {
            std::fprintf(stderr, "with_server: cannot run %s\n", pointers[0]);
            return 2;
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child)
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
