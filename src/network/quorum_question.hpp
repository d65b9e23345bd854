// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/server_mode.hpp"
#include "network/stream.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace corozk::detail {

/// Asks a server whether it has a quorum, on a separate connection. The C client's own check would
/// block the loop and leak descriptors.
///
/// Or only whether it is there: then it need not say so, as long as it does not say that it has none.
class quorum_question {
public:
    using endpoint = stream::endpoint;

    enum class demand : std::uint8_t { quorum, presence };

    quorum_question(const endpoint& server, demand wanted) : server_(server), demand_(wanted) {}
    quorum_question(const quorum_question&) = delete;
    quorum_question& operator=(const quorum_question&) = delete;
    ~quorum_question();

    /// Calls back, as long as this object exists, only if the answer is yes.
    void ask(stream_factory& streams,
             const server_names& names,
             std::function<void(const endpoint&)> yes);

    const endpoint& server() const noexcept { return server_; }

    /// Why the answer is not yes, in words; empty as long as there is none.
    std::string problem() const;

    /// In the child of a fork.
    void leave_to_parent() noexcept {
        if (stream_)
            stream_->leave_to_parent();
    }

private:
    void go_on();
    server_mode mode() const noexcept;
    bool is_yes() const noexcept;

    endpoint server_;
    demand demand_;
    std::shared_ptr<stream> stream_;
    std::function<void(const endpoint&)> yes_;
    std::string response_;
    bool asked_ = false;
};

}  // namespace corozk::detail
