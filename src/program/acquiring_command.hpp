// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outage.hpp"
#include "run_under.hpp"
#include <corozk/ownership.hpp>

namespace corozk::program {

/// What runs a command while it owns something: lock, elect, semaphore.
class acquiring_command : public command {
public:
    command_line takes_command() const override { return command_line::required; }

protected:
    /// @param recipe its name, for the help
    acquiring_command(CLI::App& app, const std::string& recipe, const std::string& compatibility);

    /// Acquires by `begin(recipe, deadline)`, queueing again if the session is lost meanwhile; runs
    /// the command; releases. @return the exit code
    template <class Recipe, class Options, class Begin, class... Arguments>
    asio::awaitable<int> run_owning(command_context& context, Begin begin, Arguments... more) {
        Recipe recipe(context.zk, path_, more..., recipe_options<Options>(context));
        attempt<ownership> once = [&] { return begin(recipe, wait_.until()); };
        int code = co_await run_attempts(context, once);
        co_return code;
    }

    /// The options of the recipe.
    template <class Options>
    Options recipe_options(const command_context& context) const {
        Options options(run_.identity_for(context.options));
        options.acl = context.options.acl;
        if constexpr (requires { options.compatibility; })
            options.compatibility = compatibility_;
        return options;
    }

    std::string path_;
    bool again_ = false;  ///< begins again after a loss
    compatibility compatibility_ = compatibility::native;

private:
    asio::awaitable<int> run_attempts(command_context& context, const attempt<ownership>& once);
    asio::awaitable<run_result> acquire_and_run(command_context& context,
                                                const attempt<ownership>& once);

    int conflict_code_ = 0;  ///< 0: the documented one, with a message
    run_options run_;
};

}  // namespace corozk::program
