// SPDX-License-Identifier: Apache-2.0
#include "c_client/c_types.hpp"

namespace corozk::detail {

stat to_stat(const Stat& s) noexcept {
    stat r;
    r.czxid = s.czxid;
    r.mzxid = s.mzxid;
    r.pzxid = s.pzxid;
    r.ctime = s.ctime;
    r.mtime = s.mtime;
    r.version = s.version;
    r.cversion = s.cversion;
    r.aversion = s.aversion;
    r.ephemeral_owner = s.ephemeralOwner;
    r.data_length = s.dataLength;
    r.num_children = s.numChildren;
    return r;
}

error_code to_error(int rc) noexcept {
    return rc == ZOK ? error_code() : make_error_code(static_cast<zk_errc>(rc));
}

error_code to_answer_error(int rc) noexcept {
    switch (rc) {
        case ZCLOSING:
        case ZOPERATIONTIMEOUT:
        case ZRUNTIMEINCONSISTENCY:
        case ZMARSHALLINGERROR:
            return make_error_code(zk_errc::connection_loss);
        default:
            return to_error(rc);
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

handle_state to_handle_state(int s) noexcept {
    if (s == ZOO_CONNECTED_STATE)
        return handle_state::connected;
    if (s == ZOO_READONLY_STATE)
        return handle_state::read_only;
    if (s == ZOO_CONNECTING_STATE)
        return handle_state::connecting;
    if (s == ZOO_ASSOCIATING_STATE)
        return handle_state::associating;
    if (s == ZOO_EXPIRED_SESSION_STATE)
        return handle_state::expired;
    if (s == ZOO_AUTH_FAILED_STATE)
        return handle_state::auth_failed;
    return handle_state::disconnected;
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

multi_storage::multi_storage(const std::vector<transaction::step>& steps)
    // All zero: the C client's initializers leave members unset.
    : ops(steps.size()), results(steps.size()), stats(steps.size()), paths(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i)
        add(i, steps[i]);
}

void multi_storage::add(std::size_t i, const transaction::step& s) {
    zoo_op_t& op = ops[i];
    auto size = static_cast<int>(s.data.size());
    switch (s.kind) {
        case transaction::step_kind::create: {
            acls.push_back(std::make_unique<c_acl>(s.entries));
            constexpr std::size_t sequence_digits = 12;
            paths[i].assign(s.path.size() + sequence_digits, '\0');
            zoo_create_op_init(&op,
                               s.path.c_str(),
                               s.data.data(),
                               size,
                               acls.back()->get(),
                               to_c_mode(s.mode),
                               paths[i].data(),
                               static_cast<int>(paths[i].size()));
            break;
        }
        case transaction::step_kind::erase:
            zoo_delete_op_init(&op, s.path.c_str(), s.version);
            break;
        case transaction::step_kind::set:
            zoo_set_op_init(&op, s.path.c_str(), s.data.data(), size, s.version, &stats[i]);
            break;
        case transaction::step_kind::check:
            zoo_check_op_init(&op, s.path.c_str(), s.version);
            break;
    }
}

}  // namespace corozk::detail
