// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/contender_info.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace corozk::program {

using address_map = std::map<std::int64_t, std::string>;

/// Who holds and who waits, for a person.
std::string contender_table(const std::string& path,
                            const std::vector<contender_info>& contenders,
                            const address_map& addresses);

/// One of them, for a program.
boost::json::object contender_value(const contender_info& c, const address_map& addresses);

/// All of them.
boost::json::object contender_value(const std::string& path,
                                    const std::vector<contender_info>& contenders,
                                    const address_map& addresses);

}  // namespace corozk::program
