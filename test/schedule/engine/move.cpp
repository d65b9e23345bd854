// SPDX-License-Identifier: Apache-2.0
#include "move.hpp"

#include <cctype>
#include <stdexcept>

namespace corozk::schedule {

const char* name_of(move_kind k) {
    switch (k) {
        case move_kind::accept: return "accept";
        case move_kind::execute: return "execute";
        case move_kind::deliver: return "deliver";
        case move_kind::follow: return "follow";
        case move_kind::go_on: return "go on";
        case move_kind::time: return "time";
        case move_kind::cut: return "CUT";
        case move_kind::cut_late: return "CUT LATE";
        case move_kind::lose_answer: return "LOSE ANSWER";
        case move_kind::expire: return "EXPIRE";
        case move_kind::refuse: return "REFUSE";
        case move_kind::silence: return "SILENCE";
        case move_kind::cancel: return "CANCEL";
        case move_kind::early_time: return "EARLY TIME";
        case move_kind::erase_node: return "ERASE";
        case move_kind::reap: return "REAP";
    }
    return "?";
}

std::string word_of(move_kind fault) {
    std::string word = name_of(fault);
    for (char& c : word)
        c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

move_kind fault_named(const std::string& word) {
    std::string all;
    for (int i = static_cast<int>(move_kind::cut); i <= static_cast<int>(move_kind::reap); ++i) {
        auto kind = static_cast<move_kind>(i);
        if (word_of(kind) == word)
            return kind;
        all += " " + word_of(kind);
    }
    throw std::invalid_argument("no fault is called " + word + "; there are:" + all);
}

}  // namespace corozk::schedule
