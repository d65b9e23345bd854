// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "result.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>

namespace corozk::bench {

/// So many consumers, a session each, wait at an empty queue: corozk's, or that of the recipes page.
/// An item is put now and then; who has taken it waits again. Adds one repetition to the row: what
/// an item causes at the consumers until all is quiet again ("..._per_operation"), and how soon it
/// is taken ("taken_us"). Each item is checked to be taken once.
boost::asio::awaitable<void> measure_waiting_consumers(
    job& j, bool ours, std::size_t consumers, std::size_t items, result& r);

}  // namespace corozk::bench
