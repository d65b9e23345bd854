// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/priority_lock/rule.hpp"
#include <corozk/recipe/priority_lock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace corozk::detail {

/// The node of a contender: its creation, also if the response is lost.
class ranked_node {
public:
    ranked_node(port& p, const contention_settings& settings, std::uint64_t generation)
        : port_(p), settings_(settings), generation_(generation) {}

    /// The path of a node beside it.
    std::string at(std::string_view name) const;
    std::string path() const { return at(name_); }
    std::string record() const { return at(record_of(name_)); }

    bool known() const noexcept { return !name_.empty(); }
    const std::string& name() const noexcept { return name_; }

    /// Whether it is in no order with others: see `sequence_spent`.
    bool spent() const;

    /// Creates it, unless the call is over before, or looks whether it was created.
    /// @return a permanent error
    task<error_code> make(acquire_request what, std::string data, const interest& call);

    /// Looks for it, if it may exist.
    task<> find_out();

private:
    task<error_code> create(acquire_request what, std::string data, const interest& call);
    task<error_code> find();

    port& port_;
    const contention_settings& settings_;
    const std::uint64_t generation_;
    std::string stem_;
    std::string name_;      ///< once known
    bool perhaps_ = false;  ///< it may exist under an unknown name
};

}  // namespace corozk::detail
