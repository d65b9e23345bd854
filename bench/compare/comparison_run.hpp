// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "compare/comparison.hpp"
#include "compare/contender.hpp"
#include "result.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace corozk::bench {

/// All rows of one implementation in one comparison.
struct compared {
    std::string implementation;
    std::string title;
    contender* peer = nullptr;
    std::vector<result> rows;  ///< one for each part
    std::string failure;
};

/// A comparison, all repetitions of it: the bare C loop, corozk, and the peers that have it.
class comparison_run {
public:
    static constexpr const char* ours = "ours";
    static constexpr const char* bare = "c_client";

    comparison_run(
        job& j, client& observer, comparison& c, std::deque<contender>& peers, std::size_t repeat);

    boost::asio::awaitable<void> run();

    const std::vector<comparison_part>& parts() const { return parts_; }

    /// The bare loop's first, then ours, then the peers'.
    std::vector<compared>& entries() { return entries_; }

private:
    void add(std::string implementation, std::string title, contender* peer);
    boost::asio::awaitable<void> run_once(compared& e);
    void add_floors(const std::vector<result>& again);
    void finish();

    job& job_;
    client& observer_;
    comparison& comparison_;
    std::size_t repeat_;
    std::vector<comparison_part> parts_;
    std::vector<compared> entries_;
};

/// What is compared, with its spread over the repetitions.
std::string figure_with_spread(const comparison_part& part, const result& row);

/// A figure's median as text; empty if it was not measured.
std::string cell(const result& row, const std::string& key, std::string (*text)(double));

}  // namespace corozk::bench
