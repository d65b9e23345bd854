// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/service_types.hpp>

#include <boost/json/object.hpp>

#include <string>

namespace corozk::program {

/// "10.0.0.5:8080", "[::1]:8080"; without a port the address alone.
std::string endpoint_of(const service_instance& instance);

/// A service's instances, for people.
std::string instance_table(const std::string& service_path, const service_state& state);

/// One of them, for programs.
boost::json::object instance_value(const service_instance& instance);

}  // namespace corozk::program
