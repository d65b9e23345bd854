// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::program {

/// How the program ends. Where it runs a command, otherwise as that one does: with its exit code,
/// or 128 and the number of the signal that ended it. Numbers from 64 on are those of sysexits.h.
enum exit_code : int {
    done = 0,
    answer_is_no = 1,          ///< nothing there, not set, or deadlocks were found
    bad_usage = 64,            ///< the command line makes no sense
    no_connection = 69,        ///< no server, or the connection or session went
    failed = 70,               ///< anything else
    output_failed = 74,        ///< standard output cannot be written
    not_acquired = 75,         ///< --try or --deadline: somebody else has it, or there is nothing
    no_permission = 77,        ///< the access control list says no, or authentication failed
    ownership_was_lost = 79,   ///< what the command ran under was lost, and the command stopped
    cannot_run_command = 126,  ///< there, but not to be run
    no_such_command = 127,
    by_signal = 128  ///< and the number of the signal
};

}  // namespace corozk::program
