// SPDX-License-Identifier: Apache-2.0
// What the targets have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::fuzz {

/// Ends the program, with the input, unless this holds.
void require(bool holds, const char* what, std::string_view input);

/// As the server writes it at the end of a name.
std::string sequence_text(std::int32_t sequence);

/// At least one.
std::vector<std::string> lines_of(std::string_view text);

// The targets.
void node_names(std::string_view input);
void sequences(std::string_view input);
void paths(std::string_view input);
void host_lists(std::string_view input);
void ensemble_configurations(std::string_view input);
void limits(std::string_view input);
void release_requests(std::string_view input);
void elections(std::string_view input);
void priorities(std::string_view input);
void barriers(std::string_view input);
void counters(std::string_view input);
void commits(std::string_view input);
void configurations(std::string_view input);
void queues(std::string_view input);
void partitions(std::string_view input);
void service_instances(std::string_view input);
void server_set_members(std::string_view input);
void conversations(std::string_view input);
void frame_streams(std::string_view input);

}  // namespace corozk::fuzz
