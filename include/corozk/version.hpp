// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <string_view>

#define COROZK_VERSION_MAJOR 0
#define COROZK_VERSION_MINOR 1
#define COROZK_VERSION_PATCH 0

namespace corozk {

/** @brief The version of the linked library, such as "0.1.0". */
COROZK_DECL std::string_view version() noexcept;

/** @brief The version of the ZooKeeper C client that the library was built with. */
COROZK_DECL std::string_view c_client_version() noexcept;

/** @brief Whether the library was built with TLS (by OpenSSL). */
COROZK_DECL bool has_tls() noexcept;

/** @brief Whether the library was built with SASL (by Cyrus SASL). */
COROZK_DECL bool has_sasl() noexcept;

}  // namespace corozk
