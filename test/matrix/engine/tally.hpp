// SPDX-License-Identifier: Apache-2.0
// What has come of the cases, and the table of it.
#pragma once

#include "run_case.hpp"

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace corozk::matrix {

/// A scenario with a fault at a place.
struct one_case {
    one_case(const scenario& s, fault f, place p) : what(&s), which(f), where(std::move(p)) {}

    std::string name() const {
        return what->full_name() + "/" + std::string(to_string(which)) + "/" + where.text();
    }

    const scenario* what;
    fault which;
    place where;
};

/// Thread-safe.
class tally {
public:
    /// So many more are to come.
    void expect(std::size_t cases);
    void record(const one_case& c, const outcome& o);
    /// The longest step of a loop that does nothing.
    void record_nobody(std::chrono::nanoseconds step);

    std::size_t run() const { return sum_of(&cell::run); }
    std::size_t failed() const { return sum_of(&cell::failed); }
    std::size_t missed() const { return sum_of(&cell::missed); }
    /// The cells in which there was nothing to happen to in any case.
    std::vector<std::string> void_cells() const;

    /// Scenario by fault. "-" where there can be nothing, "0" where there was nothing to happen to.
    void print(std::ostream& out) const;

private:
    struct cell {
        std::size_t run = 0;
        std::size_t missed = 0;  ///< the fault had nothing to happen to
        std::size_t failed = 0;
    };

    std::vector<const scenario*> rows() const;
    std::string text_of(const scenario& s, fault f) const;
    std::size_t sum_of(std::size_t cell::*what) const;
    void say_how_far(const one_case& c);
    void print_turns(std::ostream& out, int width) const;

    std::mutex mutex_;
    std::map<std::pair<std::string, fault>, cell> cells_;
    struct long_turn {
        testing::turn_clock::turn turn;
        std::string whose;
    };
    static void print_turn(std::ostream& out, const long_turn& one);

    std::map<fault, long_turn> longest_;
    std::vector<long_turn> too_long_;  ///< in the order in which they came
    std::chrono::nanoseconds longest_of_nobody_{};
    std::size_t expected_ = 0;
    std::chrono::steady_clock::time_point said_{};
};

}  // namespace corozk::matrix
