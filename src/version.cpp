// SPDX-License-Identifier: Apache-2.0
#include <corozk/version.hpp>

#include <zookeeper/zookeeper_version.h>

#define COROZK_TEXT_OF(x) #x
#define COROZK_TEXT(x) COROZK_TEXT_OF(x)

namespace corozk {

std::string_view version() noexcept {
    return COROZK_TEXT(COROZK_VERSION_MAJOR) "." COROZK_TEXT(COROZK_VERSION_MINOR) "." COROZK_TEXT(
        COROZK_VERSION_PATCH);
}

std::string_view c_client_version() noexcept {
    return ZOO_VERSION;
}

bool has_tls() noexcept {
#if defined(COROZK_HAS_TLS) && COROZK_HAS_TLS
    return true;
#else
    return false;
#endif
}

bool has_sasl() noexcept {
#if defined(COROZK_HAS_SASL) && COROZK_HAS_SASL
    return true;
#else
    return false;
#endif
}

}  // namespace corozk
