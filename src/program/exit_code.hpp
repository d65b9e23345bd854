// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::program {

/// Exit codes; those from 64 to 78 are sysexits.h's. A command that was run passes on its own: 128 and
/// the number of the signal if it was ended by one.
enum exit_code : int {
    done = 0,
    answer_is_no = 1,         ///< nothing there, not set, or deadlocks were found
    bad_usage = 64,           ///< usage error
    no_connection = 69,       ///< no server, or the connection or session was lost
    failed = 70,              ///< another error
    output_failed = 74,       ///< standard output cannot be written
    not_acquired = 75,        ///< --try or --deadline: held by another client, or nothing available
    no_permission = 77,       ///< denied by an ACL, or authentication failed
    ownership_was_lost = 79,  ///< ownership was lost, and the command was stopped
    cannot_run_command = 126,  ///< it cannot be executed
    no_such_command = 127,
    by_signal = 128  ///< and the number of the signal
};

}  // namespace corozk::program
