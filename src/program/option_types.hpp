// SPDX-License-Identifier: Apache-2.0
// Options whose values are more than text or a number.
#pragma once

#include "words.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <CLI/App.hpp>
#include <CLI/CLI.hpp>

namespace corozk::program {

/// Runs a parser of words.hpp; what it throws becomes an error of the option.
template <class Function>
void parse_word(const std::string& option, Function f) {
    try {
        f();
    } catch (const bad_word& e) {
        throw CLI::ValidationError(option, e.what());
    }
}

template <class Duration>
CLI::Option* add_duration(CLI::App& app, std::string name, Duration& into, std::string help) {
    auto set = [&into, name](const std::string& text) {
        parse_word(name, [&] { into = parse_duration(text); });
    };
    return app.add_option_function<std::string>(name, set, help)->type_name("DURATION");
}

}  // namespace corozk::program
