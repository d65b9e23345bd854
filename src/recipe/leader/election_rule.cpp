// SPDX-License-Identifier: Apache-2.0
#include "recipe/leader/election_rule.hpp"

namespace corozk::detail {

std::string acknowledgement_of(std::string_view candidate) {
    // What ends in no sequence is taken for a candidate by nobody.
    return std::string(candidate) + "-acknowledged";
}

}  // namespace corozk::detail
