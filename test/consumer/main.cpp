// SPDX-License-Identifier: Apache-2.0
//
// The smallest program that uses the library: it says which version it was linked with.

#include <corozk.hpp>

#include <iostream>

int main() {
    std::cout << "corozk " << corozk::version() << '\n';
    return corozk::version() == COROZK_EXPECTED_VERSION ? 0 : 1;
}
