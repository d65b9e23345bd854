// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk {

/** @brief The published data. */
struct rendezvous_point {
    rendezvous_point() = default;

    bool present = false;          ///< Whether it is published.
    std::string data;              ///< Such as the master's address.
    std::int64_t session_id = 0;   ///< The publisher's session.
    std::int64_t incarnation = 0;  ///< Increases with each publisher or session (the `czxid`).
};

}  // namespace corozk
