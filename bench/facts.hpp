// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <string>

namespace corozk::bench {

/// What a figure depends on, besides the program: machine, compiler, versions.
boost::json::object machine_facts();

/// The same in a line for people.
std::string machine_line();

}  // namespace corozk::bench
