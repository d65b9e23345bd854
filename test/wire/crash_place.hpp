// SPDX-License-Identifier: Apache-2.0
// What the stack of a process that has crashed says about who was wrong.
#pragma once

#include <cstdint>
#include <string>

namespace corozk::wire {

struct crash_place {
    enum class kind : std::uint8_t {
        none,         ///< it did not crash
        in_c_client,  ///< not merely called by it
        elsewhere,
    };

    kind where = kind::none;
    std::string name;
};

/// From what the process has written: the stack of report_crashes(), or a sanitizer's.
crash_place place_of_crash(const std::string& output);

/// The same with functions in place of addresses in `program`, as far as `addr2line` knows them.
std::string with_function_names(const std::string& output, const std::string& program);

}  // namespace corozk::wire
