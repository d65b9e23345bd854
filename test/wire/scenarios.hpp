// SPDX-License-Identifier: Apache-2.0
// What a client is about while its server lies to it. Whatever comes back, each of these ends: with
// its result, with an error, or when it is cancelled.
#pragma once

#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::wire {

struct scenario {
    std::string_view name;
    boost::asio::awaitable<void> (*play)(client&, std::string folder);
};

const std::vector<scenario>& all_scenarios();

// What they are put together from.
const std::vector<scenario>& line_scenarios();
const std::vector<scenario>& inspection_scenarios();
const std::vector<scenario>& queue_scenarios();
const std::vector<scenario>& data_scenarios();
const std::vector<scenario>& barrier_scenarios();

}  // namespace corozk::wire
