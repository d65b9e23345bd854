// SPDX-License-Identifier: Apache-2.0
// corozk-bench: see commands.cpp for what it can do, and README.md for how to read its figures.
#include "command.hpp"
#include "program.hpp"
#include "report/report.hpp"
#include "worker.hpp"

int main(int argc, char** argv) {
    using namespace corozk::bench;
    program p{"corozk-bench", all_commands(), prepare_report, write_report, read_rows, run_worker};
    return run_program(p, argc, argv);
}
