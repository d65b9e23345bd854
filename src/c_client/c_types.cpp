// SPDX-License-Identifier: Apache-2.0
#include "c_client/c_types.hpp"

namespace corozk::detail {

error_code to_error(int rc) noexcept {
    return rc == ZOK ? error_code() : make_error_code(static_cast<zk_errc>(rc));
}

error_code to_answer_error(int rc) noexcept {
    switch (rc) {
        case ZCLOSING:
        case ZOPERATIONTIMEOUT:
        case ZRUNTIMEINCONSISTENCY:
        case ZMARSHALLINGERROR: return make_error_code(zk_errc::connection_loss);
        default: return to_error(rc);
    }
}

int to_c_mode(create_mode mode) noexcept {
    static_assert(static_cast<int>(create_mode::persistent_sequential_with_ttl) == 6);
    const int modes[] = {ZOO_PERSISTENT,
                         ZOO_PERSISTENT_SEQUENTIAL,
                         ZOO_EPHEMERAL,
                         ZOO_EPHEMERAL_SEQUENTIAL,
                         ZOO_CONTAINER,
                         ZOO_PERSISTENT_WITH_TTL,
                         ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL};
    return modes[static_cast<std::size_t>(mode)];
}

watch_event_type to_event_type(int type) noexcept {
    if (type == ZOO_CREATED_EVENT)
        return watch_event_type::created;
    if (type == ZOO_DELETED_EVENT)
        return watch_event_type::erased;
    if (type == ZOO_CHANGED_EVENT)
        return watch_event_type::data_changed;
    if (type == ZOO_CHILD_EVENT)
        return watch_event_type::children_changed;
    return watch_event_type::unknown;
}

}  // namespace corozk::detail
