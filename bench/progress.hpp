// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace corozk::bench {

/// Says on standard error what goes on: a line that is rewritten on a terminal, elsewhere a plain
/// line now and then.
class progress {
public:
    explicit progress(bool shown);
    ~progress() { clear(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Cheap when called often. `total` 0: how far it is, is not known.
    void update(std::string_view what, std::size_t done = 0, std::size_t total = 0);

    /// A line that stays.
    void note(std::string_view text);

    /// Takes the rewritten line away, before something else is printed.
    void clear();

private:
    bool shown_;
    bool terminal_;
    bool dirty_ = false;
    std::string what_;
    std::chrono::steady_clock::time_point next_{};
};

}  // namespace corozk::bench
