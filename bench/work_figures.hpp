// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "session_use.hpp"
#include <corozk/client.hpp>

#include <vector>

namespace corozk::bench {

/// What a piece of work needs besides its time: from when this is made until `add_to`.
class work_figures {
public:
    explicit work_figures(const std::vector<client>& clients);

    /// Per unit of the work: requests, notifications, bytes; and the CPU time of this process per
    /// request.
    void add_to(result& r, double units) const;

    session_use used() const { return use_of(clients_) - before_; }

private:
    const std::vector<client>& clients_;
    session_use before_;
    double cpu_;
};

}  // namespace corozk::bench
