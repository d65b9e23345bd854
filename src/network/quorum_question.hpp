// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/stream.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace corozk::detail {

/// Asks a server whether it has a quorum, on a separate connection ("isro", supported by servers
/// that may be read-only). The C client's own check would block the loop and leak descriptors.
class quorum_question {
public:
    using endpoint = stream::endpoint;

    explicit quorum_question(const endpoint& server) : server_(server) {}
    quorum_question(const quorum_question&) = delete;
    quorum_question& operator=(const quorum_question&) = delete;
    ~quorum_question();

    /// Calls back, as long as this object exists, only if the server has a quorum.
    void ask(stream_factory& streams,
             const std::string& name,
             std::function<void(const endpoint&)> yes);

private:
    void go_on();

    endpoint server_;
    std::shared_ptr<stream> stream_;
    std::function<void(const endpoint&)> yes_;
    std::array<unsigned char, 2> answer_{};
    std::size_t received_ = 0;
    bool asked_ = false;
};

}  // namespace corozk::detail
