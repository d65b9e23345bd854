// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/node_map.hpp>
#include <corozk/recipe/service_types.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

// Service discovery, in the format of Curator's x-discovery: the data of base/service/id is a JSON
// object. The other format, Finagle's ServerSet, has the same rules: see server_set.hpp.
//
//   * A dynamic instance is an ephemeral node, which is re-created until its owner gives it up
//     (toolkit/kept_node); static and permanent ones are persistent nodes.
//   * The same data is written after session loss as before, so that repeating a registration or an
//     update after a lost response is not a difference.
//   * Unknown fields are ignored; `enabled` is written only if false, as Curator before 2.11 rejects
//     fields that it does not know. Missing fields have the values that Curator gives them,
//     and a missing id is the node's name.
//   * What is no instance is skipped and reported: by name in a `service_state`, and in the log once per
//     change. It ends nothing. Data is parsed up to a size and a depth.
//   * An instance is known by its service and its node's name, not by the name and the id in its data:
//     two whose data has the same id are two, and what is done to one that was found concerns its node.

/// The data of an instance's node; nothing if it cannot be written: a payload that is not JSON, a text
/// that is not UTF-8, a template with unpaired braces.
std::optional<std::string> write_instance(const service_instance& instance);

/// @param node its name, which is the id unless the data has another one
std::optional<service_instance> read_instance(std::string_view service,
                                              std::string_view node,
                                              std::string_view data);

/// Same as above, in either format.
std::optional<std::string> write_instance(service_format format, const service_instance& instance);

/// Same as above, in either format, with what the node's metadata says.
std::optional<service_instance> read_instance(service_format format,
                                              std::string_view service,
                                              std::string_view node,
                                              const std::string& data,
                                              const stat& record);

/// The path of a service, or of one of its instances; nothing if a name is invalid.
std::optional<std::string> service_path(std::string_view base, std::string_view service);
std::optional<std::string> instance_path(service_format format,
                                         std::string_view base,
                                         std::string_view service,
                                         std::string_view id);

/// The node of an instance by its id, or by the node's name itself.
std::string instance_node(service_format format, std::string_view id);

/// Whether a service's child with this name is an instance. Others are ignored.
bool is_instance_node(service_format format, std::string_view node);

/// The instances of a service by node name, parsed once per change of a node.
class instance_table {
public:
    struct entry {
        std::int64_t mzxid = 0;
        bool empty = false;                                ///< no data, or none that may be read
        std::shared_ptr<const service_instance> instance;  ///< null: malformed
    };

    explicit instance_table(std::string service, service_format format = service_format::curator)
        : service_(std::move(service)), format_(format) {}

    /// @return the names of nodes that have become malformed
    std::vector<std::string> update(const node_map& nodes);

    const std::map<std::string, entry>& entries() const noexcept { return entries_; }

private:
    std::string service_;
    service_format format_;
    std::map<std::string, entry> entries_;
};

}  // namespace corozk::detail
