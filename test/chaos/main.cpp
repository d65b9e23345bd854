// SPDX-License-Identifier: Apache-2.0
// Many client processes against three servers, with everything going wrong; then a checker replays
// what they did.
#include "client.hpp"
#include "conductor.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* usage = R"(usage: test_chaos [OPTION]...
Runs client processes against three servers, kills, stops and cuts off both, moves clocks, and checks
that no owner was doubled, no item lost or doubled, and nothing miscounted.
  --minutes N   how long things go wrong (30)
  --seconds N   the same
  --clients N   how many processes (6)
  --seed N      chooses the faults (random)
  --keep DIR    where a run that fails leaves the servers' logs and transaction logs
)";

}  // namespace

int main(int argc, char** argv) {
    using namespace corozk::chaos;
    plan wanted;
    wanted.length = std::chrono::minutes(30);
    wanted.seed = std::random_device()();
    client_role role;
    try {
        for (int i = 1; i < argc; ++i) {
            std::string option = argv[i];
            auto value = [&]() -> std::string {
                if (++i >= argc)
                    throw std::invalid_argument(option + " needs a value");
                return argv[i];
            };
            if (option == "--minutes") {
                wanted.length = std::chrono::minutes(std::stoul(value()));
            } else if (option == "--seconds") {
                wanted.length = std::chrono::seconds(std::stoul(value()));
            } else if (option == "--clients") {
                wanted.clients = std::stoul(value());
            } else if (option == "--seed") {
                wanted.seed = std::stoull(value());
            } else if (option == "--keep") {
                wanted.keep = value();
            } else if (option == "--client") {
                role.name = value();
            } else if (option == "--hosts") {
                role.hosts = value();
            } else if (option == "--resource") {
                role.resource_port = static_cast<std::uint16_t>(std::stoul(value()));
            } else if (option == "--help" || option == "-h") {
                std::cout << usage;
                return EXIT_SUCCESS;
            } else {
                throw std::invalid_argument("unknown option " + option);
            }
        }
        if (!role.name.empty())
            return run_client(role);
        if (wanted.clients == 0)
            throw std::invalid_argument("--clients must be positive");
        conductor all(std::filesystem::read_symlink("/proc/self/exe").string(), wanted);
        return all() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
