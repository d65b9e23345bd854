// SPDX-License-Identifier: Apache-2.0
#include "tally.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace corozk::matrix {

namespace {

constexpr int column_width = 9;

/// What the library promises. Longer handlers are listed with the reason.
constexpr std::chrono::milliseconds turn_limit(10);

double in_ms(std::chrono::nanoseconds t) {
    return static_cast<double>(t.count()) / 1e6;
}

}  // namespace

void tally::expect(std::size_t cases) {
    std::lock_guard guard(mutex_);
    expected_ += cases;
}

void tally::record_nobody(std::chrono::nanoseconds step) {
    std::lock_guard guard(mutex_);
    longest_of_nobody_ = std::max(longest_of_nobody_, step);
}

void tally::record(const one_case& c, const outcome& o) {
    std::lock_guard guard(mutex_);
    cell& here = cells_[{c.what->full_name(), c.which}];
    ++(o.hit ? here.run : here.missed);
    auto& longest = longest_[c.which];
    if (o.longest_turn.took > longest.turn.took)
        longest = {o.longest_turn, c.name()};
    if (o.longest_turn.took > turn_limit)
        too_long_.push_back({o.longest_turn, c.name()});
    if (!o.failures.empty()) {
        ++here.failed;
        std::cerr << "FAILED  '" << c.name() << "'\n";
        for (const std::string& text : o.failures)
            std::cerr << "    " << text << "\n";
    }
    say_how_far(c);
}

void tally::say_how_far(const one_case& c) {
    auto now = std::chrono::steady_clock::now();
    if (now - said_ <= std::chrono::seconds(5))
        return;
    said_ = now;
    std::cerr << "matrix: " << run() + missed() << " of " << expected_ << ", " << failed()
              << " failed; " << c.name() << "\n";
}

std::size_t tally::sum_of(std::size_t cell::*what) const {
    std::size_t sum = 0;
    for (const auto& [where, c] : cells_)
        sum += c.*what;
    return sum;
}

std::vector<std::string> tally::void_cells() const {
    std::vector<std::string> found;
    for (const auto& [where, c] : cells_) {
        if (c.run == 0)
            found.push_back(where.first + "/" + std::string(to_string(where.second)));
    }
    return found;
}

/// Those that anything was run of.
std::vector<const scenario*> tally::rows() const {
    std::vector<const scenario*> found;
    for (const scenario& s : all_scenarios()) {
        bool any = std::any_of(cells_.begin(), cells_.end(), [&](const auto& c) {
            return c.first.first == s.full_name();
        });
        if (any)
            found.push_back(&s);
    }
    return found;
}

std::string tally::text_of(const scenario& s, fault f) const {
    auto found = cells_.find({s.full_name(), f});
    if (found == cells_.end())
        return "-";
    const cell& c = found->second;
    if (c.run == 0 && c.failed == 0)
        return "0";
    return std::to_string(c.run) + "/" + std::to_string(c.failed);
}

void tally::print_turn(std::ostream& out, const long_turn& one) {
    const testing::turn_clock::turn& t = one.turn;
    out << in_ms(t.took) << " ms (blocked " << in_ms(t.blocked) << ", in the kernel "
        << in_ms(t.in_kernel) << "; page faults " << t.page_faults << ", preemptions "
        << t.preemptions << "): " << one.whose << "\n";
}

void tally::print_turns(std::ostream& out, int width) const {
    out << std::left << std::setw(width) << "longest turn, ms" << std::right << std::fixed
        << std::setprecision(2);
    for (const fault_traits& f : fault_table) {
        auto found = longest_.find(f.id);
        out << std::setw(column_width);
        if (found != longest_.end()) {
            out << in_ms(found->second.turn.took);
        } else {
            out << "";
        }
    }
    out << "\n";
    auto worst =
        std::max_element(longest_.begin(), longest_.end(), [](const auto& a, const auto& b) {
            return a.second.turn.took < b.second.turn.took;
        });
    if (worst != longest_.end()) {
        out << "the longest turn of the loop: ";
        print_turn(out, worst->second);
    }
    if (!too_long_.empty())
        out << "longer than " << in_ms(turn_limit) << " ms:\n";
    for (const long_turn& one : too_long_) {
        out << "  ";
        print_turn(out, one);
    }
    out << "the longest of a loop that does nothing, at the same time: "
        << in_ms(longest_of_nobody_) << " ms\n";
}

void tally::print(std::ostream& out) const {
    std::size_t longest_name = 16;
    for (const scenario* s : rows())
        longest_name = std::max(longest_name, s->full_name().size());
    auto width = static_cast<int>(longest_name + 1);
    out << std::left << std::setw(width) << "" << std::right;
    for (const fault_traits& f : fault_table)
        out << std::setw(column_width) << f.title;
    out << "\n";
    for (const scenario* s : rows()) {
        out << std::left << std::setw(width) << s->full_name() << std::right;
        for (const fault_traits& f : fault_table)
            out << std::setw(column_width) << text_of(*s, f.id);
        out << "\n";
    }
    print_turns(out, width);
    out << run() << " cases run, " << failed() << " failed; " << missed()
        << " found nothing to happen to\n";
}

}  // namespace corozk::matrix
