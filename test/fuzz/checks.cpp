// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <cstdio>
#include <cstdlib>

namespace corozk::fuzz {

void require(bool holds, const char* what, std::string_view input) {
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\ninput: ", what);
    for (char c : input)
        std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
    std::fprintf(stderr, "\n");
    std::abort();
}

std::string sequence_text(std::int32_t sequence) {
    char text[16];
    std::snprintf(text, sizeof text, "%010d", sequence);
    return text;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines(1);
    for (char c : text) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += c;
        }
    }
    return lines;
}

}  // namespace corozk::fuzz
