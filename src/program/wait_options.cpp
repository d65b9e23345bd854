// SPDX-License-Identifier: Apache-2.0
#include "wait_options.hpp"

#include "option_types.hpp"

#include <algorithm>

namespace corozk::program {

void wait_options::describe_deadline(CLI::App& app) {
    add_duration(app, "-w,--deadline", deadline, "wait at most this long, then end with 75");
}

void wait_options::describe(CLI::App& app, const std::string& in_vain) {
    describe_deadline(app);
    app.add_flag("-n,--try",
                 try_only,
                 "do not wait: end with 75 if " + in_vain +
                     ", with 69 if no server answers within a second")
        ->excludes("--deadline");
}

std::chrono::steady_clock::time_point wait_options::until() const {
    return deadline ? begin + *deadline : std::chrono::steady_clock::time_point::max();
}

std::optional<std::chrono::milliseconds> wait_options::patience() const {
    constexpr std::chrono::milliseconds to_answer_a_try{1000};
    if (try_only || (deadline && deadline->count() == 0))
        return to_answer_a_try;
    if (!deadline)
        return std::nullopt;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until() - std::chrono::steady_clock::now());
    return std::max(left, std::chrono::milliseconds(1));
}

}  // namespace corozk::program
