// SPDX-License-Identifier: Apache-2.0
// Options whose values are more than text or a number.
#pragma once

#include "words.hpp"
#include <corozk/compatibility.hpp>

#include <chrono>
#include <limits>
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

/// A whole number, also where `into` is optional. What it may be is said where it is not.
template <class Number, class Into>
CLI::Option* add_number(CLI::App& app,
                        std::string name,
                        Into& into,
                        std::string help,
                        Number least = std::numeric_limits<Number>::lowest(),
                        Number most = std::numeric_limits<Number>::max()) {
    auto set = [&into, name, least, most](const std::string& text) {
        parse_word(name, [&] { into = parse_number<Number>(text, least, most); });
    };
    return app.add_option_function<std::string>(name, set, help)->type_name("NUMBER");
}

/// --compatibility: whose nodes the command's recipe works with.
inline CLI::Option* add_compatibility(CLI::App& app, compatibility& into, std::string help) {
    auto set = [&into](const std::string& text) {
        into = text == "curator" ? compatibility::curator
               : text == "kazoo" ? compatibility::kazoo
                                 : compatibility::native;
    };
    return app.add_option_function<std::string>("--compatibility", set, help)
        ->check(CLI::IsMember({"native", "curator", "kazoo"}));
}

}  // namespace corozk::program
