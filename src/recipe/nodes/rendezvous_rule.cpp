// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/rendezvous_rule.hpp"

namespace corozk::detail {

rendezvous_point describe_point(const node_view& view) {
    rendezvous_point point;
    if (!view.present)
        return point;
    point.present = true;
    point.data = view.data;
    point.session_id = view.stat.ephemeral_owner;
    point.incarnation = view.stat.czxid;
    return point;
}

}  // namespace corozk::detail
