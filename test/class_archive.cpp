// SPDX-License-Identifier: Apache-2.0
// Writes the class archive of the tests' servers, so that each of them starts sooner.
#include <corozk/testing/class_archive.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: corozk_class_archive FILE\n";
        return 2;
    }
    try {
        corozk::testing::write_class_archive(argv[1]);
        return EXIT_SUCCESS;
    } catch (const std::exception& e) {
        // It saves time, and is not needed.
        std::cerr << "the tests' servers start without a class archive: " << e.what() << "\n";
        return EXIT_SUCCESS;
    }
}
