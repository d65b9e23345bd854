// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sizing/model.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

namespace corozk::bench {

/// Measures what the model is fed with, on the servers of this run, so many of them; takes some seconds
/// for each try.
boost::asio::awaitable<server_costs> measure_costs(stage& on, std::size_t tries, double servers);

}  // namespace corozk::bench
