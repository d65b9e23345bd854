// SPDX-License-Identifier: Apache-2.0

#define CATCH_CONFIG_RUNNER
#include "corozk/testing/process_guard.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <iostream>
#include <unistd.h>

int main(int argc, char* argv[]) {
    // The tests of process_guard start this program as a parent that is then killed.
    if (argc == 2 && std::strcmp(argv[1], "--start-a-child-and-wait") == 0) {
        corozk::testing::process_options options;
        options.command = {"sleep", "1000"};
        const corozk::testing::process_guard child{options};
        std::cout << child.pid() << std::endl;  // NOLINT: flushed on purpose
        ::pause();
    }
    return Catch::Session().run(argc, argv);
}
