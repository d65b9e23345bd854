// SPDX-License-Identifier: Apache-2.0
#include "wait_options.hpp"

#include "option_types.hpp"

#include <algorithm>

namespace corozk::program {

namespace {

constexpr std::chrono::milliseconds to_answer_a_try{1000};

}  // namespace

void wait_options::describe_deadline(CLI::App& app, const char* help) {
    add_duration(app, "-w,--deadline", deadline, help);
}

void wait_options::describe(CLI::App& app, const char* try_help) {
    auto* try_flag = app.add_flag("-n,--try", try_only, try_help);
    describe_deadline(app, "wait at most so long, then end with 75");
    app.get_option("--deadline")->excludes(try_flag);
}

void wait_options::describe_conflict_code(CLI::App& app) {
    add_number<int>(app,
                    "-E,--conflict-exit-code",
                    conflict_code,
                    "the exit code in place of 75, without a message",
                    1,
                    255);
}

std::chrono::steady_clock::time_point wait_options::until() const {
    return deadline ? begin + *deadline : std::chrono::steady_clock::time_point::max();
}

std::chrono::milliseconds wait_options::left() const {
    auto rest = until() - std::chrono::steady_clock::now();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(rest),
                    std::chrono::milliseconds(0));
}

std::optional<std::chrono::milliseconds> wait_options::patience() const {
    if (try_only || (deadline && *deadline == std::chrono::milliseconds(0)))
        return to_answer_a_try;
    if (!deadline)
        return std::nullopt;
    return std::max(left(), std::chrono::milliseconds(1));
}

}  // namespace corozk::program
