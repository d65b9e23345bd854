// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "wire/frame_splitter.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace corozk::testing::detail {

/**
 * A byte stream in frames.
 *
 * A length that no ZooKeeper peer sends (negative, or above 64 MiB: a four-letter word) ends the
 * framing: from there on everything is handed out as it comes.
 */
class frame_stream {
public:
    /** Where the next bytes are to be read to. */
    std::span<unsigned char> room(std::size_t at_least) { return splitter_.room(at_least); }
    void filled(std::size_t count) { splitter_.filled(count); }

    /** The next complete frame with its length in front, or the next bytes of an unframed stream.
     */
    std::optional<std::string> next() {
        if (!unframed_) {
            if (const auto frame = splitter_.next(); !frame.empty()) {
                return std::string{frame.begin(), frame.end()};
            }
            unframed_ = !splitter_.problem().empty();
        }
        const auto rest = splitter_.rest();
        if (!unframed_ || rest.empty()) {
            return std::nullopt;
        }
        std::string bytes{rest.begin(), rest.end()};
        splitter_.clear();
        return bytes;
    }

    /** What answers an unframed stream is unframed, too. */
    void stop_framing() noexcept { unframed_ = true; }

    /** True once the stream has turned out not to be framed. */
    bool unframed() const noexcept { return unframed_; }

    /** How many bytes wait for the rest of their frame. */
    std::size_t pending() const noexcept { return splitter_.pending(); }

private:
    corozk::detail::frame_splitter splitter_;
    bool unframed_ = false;
};

}  // namespace corozk::testing::detail
