// SPDX-License-Identifier: Apache-2.0
// The fault matrix: every scenario of every recipe under every fault, as a table.
#include "engine/matrix.hpp"
#include "option_words.hpp"
#include <corozk/version.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* usage = R"(usage: test_matrix [--full | --compact | --requests] [OPTION]...
Runs every scenario of every recipe under every fault and prints a table: cases run/failures.
  --full           at every frame and in every state (the default)
  --compact        a few places of each cell
  --requests       every request where engine/at_every_request.cpp says so, and interruptions after
                   every handler of the event loop (the default suite's part)
  --recipe NAME    only this recipe (or RECIPE.SCENARIO)
  --fault NAME     only this fault
  --case CASE      only this one, as a failure names it: 'lock.wait/answer lost/7'
  --repeat N       everything N times
  --threads N      how many cases at a time (4)
  --tls            the client that meets the fault connects by TLS
  --list           the scenarios and the faults, and why a cell is '-'
)";

}  // namespace

int main(int argc, char** argv) {
    corozk::matrix::request wanted;
    try {
        for (corozk::testing::option_words words(argc, argv); words.next();) {
            if (words.is("--full")) {
                wanted.places = corozk::matrix::extent::full;
            } else if (words.is("--compact")) {
                wanted.places = corozk::matrix::extent::compact;
            } else if (words.is("--requests")) {
                wanted.places = corozk::matrix::extent::requests;
            } else if (words.is("--recipe")) {
                wanted.recipe = words.value();
            } else if (words.is("--fault")) {
                wanted.fault = words.value();
            } else if (words.is("--case")) {
                wanted.single = words.value();
            } else if (words.is("--repeat")) {
                wanted.repeat = words.number<std::size_t>();
            } else if (words.is("--threads")) {
                wanted.threads = words.number<std::size_t>();
            } else if (words.is("--tls")) {
                wanted.tls = true;
            } else if (words.is("--list")) {
                corozk::matrix::print_list(std::cout);
                return EXIT_SUCCESS;
            } else if (words.is("--help") || words.is("-h")) {
                std::cout << usage;
                return EXIT_SUCCESS;
            } else {
                words.refuse();
            }
        }
        if (wanted.threads == 0 || wanted.repeat == 0)
            throw std::invalid_argument("--threads and --repeat must be positive");
        if (wanted.tls && !corozk::has_tls())
            throw std::invalid_argument("--tls: this build has no TLS");
        return corozk::matrix::run_matrix(wanted, std::cout) ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
