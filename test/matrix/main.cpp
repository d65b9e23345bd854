// SPDX-License-Identifier: Apache-2.0
// The fault matrix: every scenario of every recipe under every fault, as a table.
#include "engine/matrix.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

constexpr const char* usage = R"(usage: test_matrix [--full | --compact] [OPTION]...
Runs every scenario of every recipe under every fault and prints a table: cases run/failures.
  --full           at every frame and in every state (the default)
  --compact        a few places of each cell
  --recipe NAME    only this recipe (or RECIPE.SCENARIO)
  --fault NAME     only this fault
  --case CASE      only this one, as a failure names it: 'lock.wait/answer lost/7'
  --repeat N       everything N times
  --threads N      how many cases at a time (4)
  --list           the scenarios and the faults, and why a cell is '-'
)";

}  // namespace

int main(int argc, char** argv) {
    corozk::matrix::request wanted;
    try {
        for (int i = 1; i < argc; ++i) {
            std::string option = argv[i];
            auto value = [&]() -> std::string {
                if (++i >= argc)
                    throw std::invalid_argument(option + " needs a value");
                return argv[i];
            };
            if (option == "--full") {
                wanted.compact = false;
            } else if (option == "--compact") {
                wanted.compact = true;
            } else if (option == "--recipe") {
                wanted.recipe = value();
            } else if (option == "--fault") {
                wanted.fault = value();
            } else if (option == "--case") {
                wanted.single = value();
            } else if (option == "--repeat") {
                wanted.repeat = std::stoul(value());
            } else if (option == "--threads") {
                wanted.threads = std::stoul(value());
            } else if (option == "--list") {
                corozk::matrix::print_list(std::cout);
                return EXIT_SUCCESS;
            } else if (option == "--help" || option == "-h") {
                std::cout << usage;
                return EXIT_SUCCESS;
            } else {
                throw std::invalid_argument("unknown option " + option);
            }
        }
        return corozk::matrix::run_matrix(wanted, std::cout) ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
