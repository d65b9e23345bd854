// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

/// What a program was called with, an option after the other:
///
///     for (option_words words(argc, argv); words.next();) {
///         if (words.is("--seed"))
///             seed = words.number<std::uint64_t>();
///         else
///             words.refuse();
///     }
///
/// A mistake is an std::invalid_argument that says which word it was.
class option_words {
public:
    option_words(int argc, char** argv) : words_(argv + 1, argv + argc) {}

    /// To the next option. @return whether there is one
    bool next() {
        if (at_ == words_.size())
            return false;
        option_ = words_[at_++];
        return true;
    }

    bool is(std::string_view name) const { return option_ == name; }

    /// The word behind the option.
    std::string value() {
        if (at_ == words_.size())
            throw std::invalid_argument(option_ + " needs a value");
        return words_[at_++];
    }

    /// The same, as a number from `least` to `most`.
    template <class Number>
    Number number(Number least = 0, Number most = std::numeric_limits<Number>::max()) {
        std::string text = value();
        Number n{};
        auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
        bool whole = problem == std::errc() && end == text.data() + text.size();
        bool fits = n >= least && n <= most;  // what is not a number does not
        if (!whole || !fits) {
            std::ostringstream what;
            what << option_ << " needs " << (std::integral<Number> ? "a whole number" : "a number")
                 << " from " << least << " to " << most << ", not '" << text << "'";
            throw std::invalid_argument(what.str());
        }
        return n;
    }

    [[noreturn]] void refuse() const { throw std::invalid_argument("unknown option " + option_); }

private:
    std::vector<std::string> words_;
    std::size_t at_ = 0;
    std::string option_;
};

}  // namespace corozk::testing
