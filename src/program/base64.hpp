// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648), for bytes in JSON.
#pragma once

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace corozk::program {

inline std::string to_base64(std::string_view bytes) {
    namespace iterators = boost::archive::iterators;
    using digit = iterators::base64_from_binary<iterators::transform_width<const char*, 6, 8>>;
    // It reads whole groups.
    std::size_t padding = (3 - bytes.size() % 3) % 3;
    std::string groups(bytes);
    groups.append(padding, '\0');
    std::string result(digit(groups.data()), digit(groups.data() + groups.size()));
    return result.replace(result.size() - padding, padding, padding, '=');
}

/// @throws std::exception if it is none
inline std::string from_base64(std::string_view text) {
    namespace iterators = boost::archive::iterators;
    using byte = iterators::transform_width<iterators::binary_from_base64<const char*>, 8, 6>;
    while (text.ends_with('='))
        text.remove_suffix(1);
    std::string bytes;
    std::copy_n(byte(text.data()), text.size() * 6 / 8, std::back_inserter(bytes));
    return bytes;
}

}  // namespace corozk::program
