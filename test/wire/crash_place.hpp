// SPDX-License-Identifier: Apache-2.0
// What the stack of a process that has crashed says about who was wrong.
#pragma once

#include <string>

namespace corozk::wire {

/// Where in the C client a process has crashed, from what it has written: the stack of
/// report_crashes(), or a sanitizer's. Empty if it did not crash, or somewhere else, also if the C
/// client had called what did.
std::string place_in_c_client(const std::string& output);

/// How the C client has ended the process. Of its functions only those have a name that it exports:
/// what it says of itself, and how the stack looks, must do.
enum class c_client_end {
    elsewhere,         ///< another crash, if any
    nobody_waits,      ///< `zookeeper_process` asserts that somebody waits for an answer
    no_result_wanted,  ///< `deserialize_multi` asserts that an operation is left for a result
    wrong_access,  ///< by itself, in a function that it does not export: never what frees memory
};

/// Of a process whose stack report_crashes() has written.
c_client_end how_c_client_ended(const std::string& output);

/// The output with functions in place of addresses in `program`, as far as `addr2line` knows them.
std::string with_function_names(const std::string& output, const std::string& program);

}  // namespace corozk::wire
