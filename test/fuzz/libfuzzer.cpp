// SPDX-License-Identifier: Apache-2.0
// For libFuzzer: one target, named by COROZK_FUZZ_TARGET.
#include "targets.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const corozk::fuzz::target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const char* name = std::getenv("COROZK_FUZZ_TARGET");
    chosen = name ? corozk::fuzz::target_named(name) : nullptr;
    if (!chosen) {
        std::fprintf(stderr, "COROZK_FUZZ_TARGET must name one of:");
        for (const auto& t : corozk::fuzz::all_targets())
            std::fprintf(stderr, " %.*s", static_cast<int>(t.name.size()), t.name.data());
        std::fprintf(stderr, "\n");
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen->run(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
