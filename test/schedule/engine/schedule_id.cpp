// SPDX-License-Identifier: Apache-2.0
#include "schedule_id.hpp"

#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace corozk::schedule {

namespace {

/// Of a run: many more than a schedule has.
constexpr std::size_t most_choices = 1'000'000;

[[noreturn]] void refuse(const std::string& what, const std::string& text) {
    throw std::invalid_argument("not " + what + ": '" + text + "'");
}

/// The number that `text` begins with, which is taken away.
template <class Number>
bool take_number(std::string& text, Number& n) {
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    text.erase(0, static_cast<std::size_t>(end - text.data()));
    return problem == std::errc();
}

bool take(std::string& text, char c) {
    bool there = text.starts_with(c);
    text.erase(0, there ? 1 : 0);
    return there;
}

}  // namespace

std::string text_of_faults(const rules& how) {
    if (how.kinds.empty())
        return std::to_string(how.faults);
    std::string text;
    for (move_kind kind : how.kinds)
        text += (text.empty() ? "" : "+") + word_of(kind);
    return text;
}

void read_faults(const std::string& text, rules& how) {
    how.kinds.clear();
    if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
        std::string rest = text;
        if (!take_number(rest, how.faults) || !rest.empty())
            refuse("a number of faults", text);
        return;
    }
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, '+');)
        how.kinds.push_back(fault_named(word));
    how.faults = static_cast<int>(how.kinds.size());
    if (how.faults == 0)
        refuse("a number of faults", text);
}

std::string schedule_id::text() const {
    std::string text = scenario + ":" + (how.eager ? "eager" : "full") + ":" + text_of_faults(how) +
                       ":" + std::to_string(how.switches) + ":";
    spell_choices(choices, [&text](std::string_view piece) { text += piece; });
    return text;
}

schedule_id schedule_id::parse(const std::string& text) {
    schedule_id id;
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == ':')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (parts.size() != 5 || (parts[1] != "eager" && parts[1] != "full"))
        refuse("a schedule", text);
    id.scenario = parts[0];
    id.how.eager = parts[1] == "eager";
    read_faults(parts[2], id.how);
    if (!take_number(parts[3], id.how.switches) || !parts[3].empty())
        refuse("a schedule", text);
    for (std::string& rest = parts[4]; !rest.empty();) {
        std::size_t choice = 0;
        std::size_t run = 1;
        bool good = take_number(rest, choice);
        if (good && take(rest, 'x'))
            good = take_number(rest, run);
        if (!good || run > most_choices || (!take(rest, '.') && !rest.empty()))
            refuse("a schedule", text);
        id.choices.insert(id.choices.end(), run, choice);
    }
    return id;
}

}  // namespace corozk::schedule
