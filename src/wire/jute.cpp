// SPDX-License-Identifier: Apache-2.0
#include "wire/jute.hpp"

namespace corozk::detail {

template <class Unsigned>
jute_writer& jute_writer::number(Unsigned value) {
    char bytes[sizeof value];
    store_big_endian(bytes, value);
    return raw({bytes, sizeof value});
}

jute_writer& jute_writer::boolean(bool value) {
    return number<std::uint8_t>(value ? 1 : 0);
}

jute_writer& jute_writer::int32(std::int32_t value) {
    return number(static_cast<std::uint32_t>(value));
}

jute_writer& jute_writer::int64(std::int64_t value) {
    return number(static_cast<std::uint64_t>(value));
}

jute_writer& jute_writer::buffer(std::string_view value) {
    return int32(static_cast<std::int32_t>(value.size())).raw(value);
}

jute_writer& jute_writer::raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
}

std::string framed(std::string_view body) {
    return jute_writer().buffer(body).bytes();
}

}  // namespace corozk::detail
