// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/barrier_rule.hpp"

namespace corozk::detail {

barrier_step decide_barrier_wait(const error_code& answer) noexcept {
    if (!answer)
        return barrier_step::wait;
    return answer == zk_errc::no_node ? barrier_step::proceed : barrier_step::fail;
}

}  // namespace corozk::detail
