// SPDX-License-Identifier: Apache-2.0
#include "systems/service.hpp"

#include "interruption.hpp"
#include "text_file.hpp"
#include <corozk/testing/temporary_directory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace corozk::bench {

namespace {

constexpr auto service_start_limit = std::chrono::seconds(30);
constexpr auto poll_interval = std::chrono::milliseconds(10);
constexpr auto version_limit = std::chrono::seconds(10);
constexpr std::size_t tail = 2'000;

testing::process_options process_for(std::vector<std::string> command,
                                     const std::filesystem::path& folder) {
    // Of a server that ran here before: what it said is not to be mistaken for the new one's.
    std::filesystem::remove(folder / "log");
    testing::process_options o;
    o.command = std::move(command);
    o.output = folder / "log";
    o.directory = folder;
    return o;
}

}  // namespace

service::service(std::vector<std::string> command, std::filesystem::path folder)
    : name_(command.front()),
      log_path_(folder / "log"),
      process_(process_for(std::move(command), folder)) {}

std::string service::log() const {
    return read_text(log_path_);
}

void service::wait_until_says(std::string_view text) {
    auto deadline = std::chrono::steady_clock::now() + service_start_limit;
    for (;;) {
        interruption::check();
        bool running = process_.running();
        std::string said = log();
        if (running && said.find(text) != said.npos)
            return;
        std::string end = said.substr(said.size() - std::min(said.size(), tail));
        if (!running && (said.find("ddress already in use") != said.npos))
            throw port_taken(end);
        if (!running)
            throw std::runtime_error(fmt::format("{} ended; its log:\n{}", name_, end));
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error(fmt::format("{} does not serve; its log:\n{}", name_, end));
        std::this_thread::sleep_for(poll_interval);
    }
}

std::string find_installed(std::string_view program) {
    const char* path = std::getenv("PATH");
    // Servers may be where only root looks for programs.
    const std::string folders =
        fmt::format("{}:/usr/bin:/usr/sbin:/usr/local/bin", path ? path : "");
    for (std::string_view rest = folders; !rest.empty();) {
        auto colon = rest.find(':');
        std::string file = fmt::format("{}/{}", rest.substr(0, colon), program);
        if (::access(file.c_str(), X_OK) == 0)
            return std::filesystem::absolute(file);
        rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    }
    return {};
}

std::string version_after(const std::string& program, std::string_view word) {
    testing::temporary_directory folder;
    testing::process_guard process(process_for({program, "--version"}, folder.path()));
    process.wait(version_limit);
    std::string text = read_text(folder.path() / "log");
    auto at = text.find(word);
    if (at == text.npos)
        return "unknown";
    text = text.substr(at + word.size());
    return text.substr(0, text.find_first_of(" \n"));
}

}  // namespace corozk::bench
