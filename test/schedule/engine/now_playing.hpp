// SPDX-License-Identifier: Apache-2.0
// What is being played, for the signal handler that reports it when the program crashes.
// Going back to an earlier moment does not put it back.
#pragma once

#include "rules.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace corozk::schedule::now_playing {

/// A schedule that takes longer than so many seconds ends the program, by SIGALRM; 0: none does.
void set_patience(unsigned seconds) noexcept;

/// Of which scenario the next schedules are; where there is a seed, the next one.
void announce(const std::string& scenario,
              const rules& how,
              std::optional<std::uint64_t> seed = std::nullopt);

/// A schedule begins, or is played on from an earlier choice.
void begin() noexcept;

/// What is chosen for the `place`-th time in it.
void choose(std::size_t place, std::size_t chosen) noexcept;

/// None is played any more.
void end() noexcept;

/// Prints what has happened and what plays it again. For a signal handler: takes no memory, and no lock.
void tell_failure(const char* what) noexcept;

}  // namespace corozk::schedule::now_playing
