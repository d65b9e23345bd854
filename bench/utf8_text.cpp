// SPDX-License-Identifier: Apache-2.0
#include "utf8_text.hpp"

#include <boost/locale/utf.hpp>

namespace corozk::bench {

std::string to_utf8(std::string_view text) {
    namespace utf = boost::locale::utf;
    std::string result;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
        const char* next = at;
        if (utf::is_valid_codepoint(utf::utf_traits<char>::decode(next, end))) {
            result.append(at, next);
            at = next;
        } else {
            result += "\uFFFD";
            ++at;
        }
    }
    return result;
}

}  // namespace corozk::bench
