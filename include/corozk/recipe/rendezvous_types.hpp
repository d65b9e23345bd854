// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk {

/** @brief What is published at a meeting point. */
struct rendezvous_point {
    rendezvous_point() = default;

    bool present = false;          ///< whether anybody is there
    std::string data;              ///< such as the master's address
    std::int64_t session_id = 0;   ///< of the one who published it
    std::int64_t incarnation = 0;  ///< grows with each new publisher or session (the czxid)
};

}  // namespace corozk
