// SPDX-License-Identifier: Apache-2.0
#include "acquire_again.hpp"

#include "option_types.hpp"

namespace corozk::program {

void wait_options::describe(CLI::App& app) {
    auto* try_flag =
        app.add_flag("-n,--try", try_only, "do not wait: end with 75 if somebody else has it");
    add_duration(app, "-w,--deadline", deadline, "wait at most so long, then end with 75")
        ->excludes(try_flag);
    app.add_option("-E,--conflict-exit-code",
                   conflict_code,
                   "the exit code in place of 75, without a message")
        ->check(CLI::Range(1, 255));
}

}  // namespace corozk::program
