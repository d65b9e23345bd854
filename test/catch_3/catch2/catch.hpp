// SPDX-License-Identifier: Apache-2.0
// Catch2 3 under the header and the names of Catch2 2, where only the newer one is installed.
#pragma once

#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {

using Matchers::StartsWith;

inline auto Contains(const std::string& text) {
    return Matchers::ContainsSubstring(text);
}

}  // namespace Catch

// Catch2 2 has a using directive here.
using Catch::Approx;
using Catch::Contains;
using Catch::StartsWith;

#ifdef CATCH_CONFIG_MAIN
int main(int argc, char** argv) {
    return Catch::Session().run(argc, argv);
}
#endif
