// SPDX-License-Identifier: Apache-2.0
// corozk-demo: the command `demo` of corozk-bench alone, for whoever wants to see it soon.
#include "command.hpp"
#include "program.hpp"

#include <span>

int main(int argc, char** argv) {
    using namespace corozk::bench;
    command demo = demo_command();
    program p{"corozk-demo", std::span(&demo, 1)};
    return run_program(p, argc, argv);
}
