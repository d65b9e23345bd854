// SPDX-License-Identifier: Apache-2.0
// Options whose values are more than text.
#pragma once

#include "words.hpp"
#include <corozk/compatibility.hpp>

#include <chrono>
#include <limits>
#include <map>
#include <string>

namespace corozk::program {

template <class Duration>
CLI::Option* add_duration(CLI::App& app,
                          const std::string& name,
                          Duration& into,
                          const std::string& help) {
    auto set = [&into](const std::string& text) { into = parse_duration(text); };
    return app.add_option(name, help)->type_name("DURATION")->each(set);
}

/// A whole number; `into` may be an optional one.
template <class Number, class Into>
CLI::Option* add_number(CLI::App& app,
                        const std::string& name,
                        Into& into,
                        const std::string& help,
                        Number least = std::numeric_limits<Number>::lowest(),
                        // CLI11 takes larger ones than 64 bits hold for the largest.
                        Number most = std::numeric_limits<Number>::max() /
                                      (sizeof(Number) == 8 ? 2 : 1)) {
    return app.add_option(name, into, help)
        ->type_name("NUMBER")
        ->check(CLI::Range(least, most).description(""));
}

/// --compatibility: whose format the command's recipe uses.
inline CLI::Option* add_compatibility(CLI::App& app, compatibility& into, const std::string& help) {
    static const std::map<std::string, compatibility> formats{{"native", compatibility::native},
                                                              {"curator", compatibility::curator},
                                                              {"kazoo", compatibility::kazoo}};
    auto set = [&into](const std::string& name) { into = formats.at(name); };
    return app.add_option_function<std::string>("--compatibility", set, help)
        ->check(CLI::IsMember(formats));
}

}  // namespace corozk::program
