// SPDX-License-Identifier: Apache-2.0
#include "recipe/leader/election_rule.hpp"

namespace corozk::detail {

std::string acknowledgement_of(std::string_view candidate) {
    // Names that do not end in a sequence are not candidates.
    return std::string(candidate) + "-acknowledged";
}

}  // namespace corozk::detail
