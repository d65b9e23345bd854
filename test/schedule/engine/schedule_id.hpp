// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rules.hpp"

#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::schedule {

using choice_list = std::vector<std::size_t>;

/// "2", or "cut+expire".
std::string text_of_faults(const rules& how);
/// @throws std::invalid_argument
void read_faults(const std::string& text, rules& how);

/// "1.0x3.2": what was chosen, and how many times the same. Takes no memory: signal handlers use it.
/// @param write  gets the pieces of the text, one after the other
template <class Write>
void spell_choices(std::span<const std::size_t> choices, Write write) {
    auto write_number = [&write](std::size_t number) {
        char digits[24];
        char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        write(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    };
    for (std::size_t i = 0; i < choices.size();) {
        std::size_t run = 1;
        while (i + run < choices.size() && choices[i + run] == choices[i])
            ++run;
        if (i > 0)
            write(".");
        write_number(choices[i]);
        if (run > 1) {
            write("x");
            write_number(run);
        }
        i += run;
    }
}

/// What is needed to play a schedule again, as text.
struct schedule_id {
    std::string scenario;
    rules how;
    choice_list choices;

    std::string text() const;
    /// @throws std::invalid_argument
    static schedule_id parse(const std::string& text);
};

}  // namespace corozk::schedule
