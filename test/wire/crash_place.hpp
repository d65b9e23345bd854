// SPDX-License-Identifier: Apache-2.0
// What the stack of a process that has crashed says about who was wrong.
#pragma once

#include <string>

namespace corozk::wire {

/// Where in the C client a process has crashed, from what it has written: the stack of
/// report_crashes(), or a sanitizer's. Empty if it did not crash, or somewhere else, also if the C
/// client had called what did.
std::string place_in_c_client(const std::string& output);

/// The same with functions in place of addresses in `program`, as far as `addr2line` knows them.
std::string with_function_names(const std::string& output, const std::string& program);

}  // namespace corozk::wire
