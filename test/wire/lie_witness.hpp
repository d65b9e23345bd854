// SPDX-License-Identifier: Apache-2.0
// Says where a server lies, before the lie is sent: the process may not live to say it afterwards.
#pragma once

#include <corozk/testing/wire_lie.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace corozk::wire {

using occasion_counts = std::map<testing::wire_occasion, std::uint64_t>;

class lie_witness {
public:
    /// Begins the line that says so.
    static constexpr std::string_view lied = "lied to at ";

    explicit lie_witness(testing::liar tells);

    /// On the proxy's thread: what the liar makes of it.
    std::string operator()(const testing::frame_info& frame, std::string bytes);

    /// How many frames there were to lie in, one line each.
    std::string describe_occasions() const;

private:
    testing::liar tells_;
    std::set<testing::op_code> lied_at_;
    mutable std::mutex mutex_;
    occasion_counts occasions_;
};

/// What `describe_occasions` has said, somewhere in a child's output.
occasion_counts occasions_in(const std::string& output);

}  // namespace corozk::wire
