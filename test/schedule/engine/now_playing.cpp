// SPDX-License-Identifier: Apache-2.0
#include "now_playing.hpp"

#include "schedule_id.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <unistd.h>

namespace corozk::schedule::now_playing {

namespace {

/// More than a schedule has before it counts as going on for ever.
constexpr std::size_t most_choices = 32'768;

struct account {
    char name[512];  ///< of the schedule, up to its choices
    std::size_t name_size;
    std::optional<std::uint64_t> seed;
    std::size_t choices[most_choices];
    std::size_t choices_made;
};

/// Not in .data or .bss, which are put back.
thread_local account current{};
thread_local unsigned patience = 0;

void print(std::string_view text) noexcept {
    while (!text.empty()) {
        ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void print(std::uint64_t number) noexcept {
    char digits[24];
    char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    print(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

}  // namespace

void set_patience(unsigned seconds) noexcept {
    patience = seconds;
}

void announce(const std::string& scenario, const rules& how, std::optional<std::uint64_t> seed) {
    std::string name = schedule_id{scenario, how, {}}.text();
    current.name_size = name.copy(current.name, sizeof current.name);
    current.seed = seed;
    current.choices_made = 0;
}

void begin() noexcept {
    current.choices_made = 0;
    ::alarm(patience);
}

void choose(std::size_t place, std::size_t chosen) noexcept {
    if (place >= most_choices)
        return;
    current.choices[place] = chosen;
    current.choices_made = place + 1;
}

void end() noexcept {
    ::alarm(0);
    current.name_size = 0;
}

void tell_failure(const char* what) noexcept {
    print("FAILED");
    if (current.name_size != 0 && current.seed) {
        print(" with seed ");
        print(*current.seed);
    }
    print("\n  ");
    print(what);
    if (current.name_size != 0) {
        print("\n  again: --replay ");
        print(std::string_view(current.name, current.name_size));
        spell_choices(std::span(current.choices, current.choices_made),
                      [](std::string_view text) { print(text); });
    }
    print("\n");
}

}  // namespace corozk::schedule::now_playing
