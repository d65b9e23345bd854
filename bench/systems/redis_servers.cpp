// SPDX-License-Identifier: Apache-2.0
#include "systems/redis_servers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace corozk::bench {

namespace {

constexpr std::string_view redis_serving = "Ready to accept connections";

}  // namespace

redis_servers::redis_servers(std::size_t count, testing::storage where, bool fsync)
    : folder_(where), fsync_(fsync), members_(count) {
    for (std::size_t i = 0; i < count; ++i)
        launch(i);
    for (member& m : members_)
        m.process->wait_until_says(redis_serving);
}

void redis_servers::restart(std::size_t index) {
    launch(index);
    members_[index].process->wait_until_says(redis_serving);
}

void redis_servers::launch(std::size_t index) {
    member& m = members_.at(index);
    auto folder = folder_.path() / std::to_string(index + 1);
    std::filesystem::create_directories(folder);
    std::vector<std::string> command{find_installed(program),
                                     "--port",
                                     std::to_string(m.port.port()),
                                     "--bind",
                                     "127.0.0.1",
                                     "--dir",
                                     folder,
                                     "--save",
                                     "",
                                     "--appendonly",
                                     "yes",
                                     "--appendfsync",
                                     fsync_ ? "always" : "no"};
    m.process = std::make_unique<service>(std::move(command), folder);
}

std::string redis_servers::hosts() const {
    std::vector<std::string> all;
    for (const member& m : members_)
        all.push_back(fmt::format("127.0.0.1:{}", m.port.port()));
    return fmt::format("{}", fmt::join(all, ","));
}

}  // namespace corozk::bench
