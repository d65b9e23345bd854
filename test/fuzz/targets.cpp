// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"

#include "checks.hpp"

namespace corozk::fuzz {

const std::vector<target>& all_targets() {
    static const std::vector<target> all = {
        {"node_name", node_names},
        {"sequence", sequences},
        {"path", paths},
        {"hosts", host_lists},
        {"ensemble_configuration", ensemble_configurations},
        {"limit", limits},
        {"counter", counters},
        {"two_phase_commit", commits},
        {"double_barrier", barriers},
        {"priority_lock", priorities},
        {"queue", queues},
        {"configuration", configurations},
        {"partition", partitions},
        {"election", elections},
        {"release_request", release_requests},
        {"service_instance", service_instances},
        {"server_set", server_set_members},
        {"conversation", conversations},
        {"frame_stream", frame_streams},
    };
    return all;
}

const target* target_named(std::string_view name) {
    for (const target& t : all_targets()) {
        if (t.name == name)
            return &t;
    }
    return nullptr;
}

}  // namespace corozk::fuzz
