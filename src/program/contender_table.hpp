// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_addresses.hpp"
#include <corozk/contender_info.hpp>

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace corozk::program {

/// Such as "lock", "semaphore x3" (permits) or "priority p2".
std::string kind_of(const contender_info& c);

/// Holders and waiters, for people.
std::string contender_table(const std::string& path,
                            const std::vector<contender_info>& contenders,
                            const address_map& addresses);

/// One of them, for programs.
boost::json::object contender_value(const contender_info& c, const address_map& addresses);

}  // namespace corozk::program
