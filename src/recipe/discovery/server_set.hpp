// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/service_types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// A member of a ServerSet, as Finagle and Twitter's commons write it: an ephemeral node
// base/service/member_NUMBER with a JSON object.
//
//   * The number says nothing. The other libraries let the server choose it, and cannot tell whether
//     a create whose response was lost has made a member. Here it follows from the id, so that
//     registering again means the same node. It has 19 digits, and the server's have 10: neither
//     takes a name of the other. Readers take any number.
//   * Only ALIVE counts as enabled, as in Finagle. What is disabled is written as STOPPING.
//   * The payload is `metadata`: an object of strings.

bool is_member_node(std::string_view node);

/// The node of an id; that of a member's node name is this node.
std::string member_node(std::string_view id);

/// Nothing if the format has no place for something: an SSL port, a URI, a lifetime other than the
/// session's, no address or port; or if the payload is no object of strings, or a text not UTF-8.
std::optional<std::string> write_member(const service_instance& instance);

std::optional<service_instance> read_member(std::string_view service,
                                            std::string_view node,
                                            std::string_view data);

}  // namespace corozk::detail
