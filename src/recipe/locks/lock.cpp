// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/contention_rule.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk {

using namespace detail;

lock::lock(const client& c, std::string path, lock_options options)
    : contention_recipe(c,
                        make_contention_object(known_recipe::lock,
                                               the_exclusive_rule,
                                               {"lock"},
                                               std::move(path),
                                               std::move(options)),
                        COROZK_CONTENTION_NAMES("lock")) {}

}  // namespace corozk
