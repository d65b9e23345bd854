// SPDX-License-Identifier: Apache-2.0
#include "acquiring_command.hpp"

namespace corozk::program {

acquiring_command::acquiring_command(CLI::App& app,
                                     const std::string& recipe,
                                     const std::string& compatibility) {
    std::string path = fmt::format("the {}'s parent znode; created if missing", recipe);
    app.add_option("PATH", path_, path)->required()->each(check_recipe_path);
    add_compatibility(app, compatibility_, compatibility);
    wait_.describe(app, "another client holds it");
    std::string code = "the exit code instead of 75, without a message";
    add_number<int>(app, "-E,--conflict-exit-code", conflict_code_, code, 1, 255);
    run_.describe(app);
}

asio::awaitable<run_result> acquiring_command::acquire_and_run(command_context& context,
                                                               const attempt<ownership>& once) {
    ownership held;
    run_result result;
    try {
        held = co_await through_outages(context,
                                        wait_,
                                        "the connection was lost; still waiting",
                                        once,
                                        "the session was lost; waiting again, behind all others");
    } catch (const boost::system::system_error& e) {
        bool conflict = e.code() == errc::would_block || e.code() == errc::deadline_exceeded;
        if (!conflict || conflict_code_ == 0)
            throw;
        result.code = conflict_code_;
    }
    if (result.code == 0)
        result = co_await run_under(context, run_, path_, held);
    co_return result;
}

asio::awaitable<int> acquiring_command::run_attempts(command_context& context,
                                                     const attempt<ownership>& once) {
    run_result ended = co_await acquire_and_run(context, once);
    while (again_ && ended.lost && !ended.stuck) {
        wait_.restart();
        ended = co_await acquire_and_run(context, once);
    }
    co_return ended.code;
}

}  // namespace corozk::program
