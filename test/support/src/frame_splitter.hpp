// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::testing::detail {

/**
 * Cuts a byte stream into ZooKeeper's frames (a 32-bit length and that many bytes).
 *
 * A length that no ZooKeeper peer sends (negative, or above 64 MiB: a four-letter word) ends the
 * framing: from there on everything is handed out as it comes.
 */
class frame_splitter {
public:
    void feed(std::string_view bytes) { buffer_.append(bytes); }

    /** The next complete frame with its length in front, or the next bytes of an unframed stream.
     */
    std::optional<std::string> next();

    /** True once the stream has turned out not to be framed. */
    bool unframed() const noexcept { return unframed_; }

    /** How many bytes wait for the rest of their frame. */
    std::size_t pending() const noexcept { return buffer_.size() - begin_; }

private:
    std::optional<std::string> take(std::size_t count);

    std::string buffer_;
    std::size_t begin_ = 0;
    bool unframed_ = false;
};

}  // namespace corozk::testing::detail
