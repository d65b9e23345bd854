// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace corozk::testing::detail {

/** Thrown by jute_reader when the bytes end too early. */
class malformed_frame : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/** Writes ZooKeeper's serialisation format: big-endian numbers, strings with a 32-bit length. */
class jute_writer {
public:
    jute_writer& boolean(bool value);
    jute_writer& int32(std::int32_t value);
    jute_writer& int64(std::int64_t value);
    jute_writer& buffer(std::string_view value);
    jute_writer& raw(std::string_view bytes);

    const std::string& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

/** Reads the same format from bytes that it does not own. */
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes) : rest_{bytes} {}

    bool boolean();
    std::int32_t int32();
    std::int64_t int64();

    /** A string or buffer; a null one reads as empty. */
    std::string_view buffer();

    std::string_view rest() const noexcept { return rest_; }
    bool empty() const noexcept { return rest_.empty(); }

private:
    std::string_view take(std::size_t count);

    std::string_view rest_;
};

/** The bytes as they go over the wire: with their length in front. */
std::string framed(std::string_view body);

}  // namespace corozk::testing::detail
