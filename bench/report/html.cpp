// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

namespace corozk::bench {

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        switch (c) {
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '&': result += "&amp;"; break;
            default: result += c;
        }
    }
    return result;
}

}  // namespace corozk::bench
