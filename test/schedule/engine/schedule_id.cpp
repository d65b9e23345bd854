// SPDX-License-Identifier: Apache-2.0
#include "schedule_id.hpp"

#include <cctype>
#include <sstream>
#include <stdexcept>

namespace corozk::schedule {

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
        how.faults = std::stoi(text);
        return;
    }
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, '+');)
        how.kinds.push_back(fault_named(word));
    how.faults = static_cast<int>(how.kinds.size());
}

std::string schedule_id::text() const {
    std::string text = scenario + ":" + (how.eager ? "eager" : "full") + ":" + text_of_faults(how) +
                       ":" + std::to_string(how.switches) + ":";
    for (std::size_t i = 0; i < choices.size();) {
        std::size_t run = 1;
        while (i + run < choices.size() && choices[i + run] == choices[i])
            ++run;
        if (i > 0)
            text += ".";
        text += std::to_string(choices[i]);
        if (run > 1)
            text += "x" + std::to_string(run);
        i += run;
    }
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
        throw std::invalid_argument("not a schedule: " + text);
    id.scenario = parts[0];
    id.how.eager = parts[1] == "eager";
    read_faults(parts[2], id.how);
    id.how.switches = std::stoi(parts[3]);
    std::string rest = parts[4];
    while (!rest.empty()) {
        std::size_t used = 0;
        std::size_t choice = std::stoul(rest, &used);
        std::size_t run = 1;
        rest.erase(0, used);
        if (rest.starts_with('x')) {
            run = std::stoul(rest.substr(1), &used);
            rest.erase(0, used + 1);
        }
        id.choices.insert(id.choices.end(), run, choice);
        if (rest.starts_with('.'))
            rest.erase(0, 1);
        else if (!rest.empty())
            throw std::invalid_argument("not a schedule: " + text);
    }
    return id;
}

}  // namespace corozk::schedule
