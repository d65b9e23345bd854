// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include "our_recipes.hpp"
#include "plain_locks.hpp"

#include <boost/asio/awaitable.hpp>

#include <stdexcept>

namespace corozk::bench {

template <class Lock>
struct kind_of {};

/// Calls the visitor with the `kind_of` what the setup names.
template <class Visitor>
boost::asio::awaitable<void> with_contestant(const contest_setup& setup, Visitor& visit) {
    if (!is_implemented(setup.recipe, setup.implementation)) {
        throw std::logic_error("there is no " + title_of(setup));
    }
    if (setup.implementation == "textbook")
        return visit(kind_of<textbook_lock>());
    if (setup.implementation == "herd") {
        if (setup.recipe == "election")
            return visit(kind_of<herd_election>());
        return visit(kind_of<herd_lock>());
    }
    if (setup.recipe == "semaphore")
        return visit(kind_of<our_semaphore>());
    if (setup.recipe == "election")
        return visit(kind_of<our_election>());
    if (setup.recipe == "election_run")
        return visit(kind_of<our_terms>());
    if (setup.recipe.starts_with("shared_lock"))
        return visit(kind_of<our_shared_lock>());
    return visit(kind_of<our_lock>());
}

}  // namespace corozk::bench
