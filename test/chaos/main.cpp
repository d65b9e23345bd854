// SPDX-License-Identifier: Apache-2.0
// Many client processes against three servers, with everything going wrong; then a checker replays
// what they did.
#include "client.hpp"
#include "conductor.hpp"
#include "option_words.hpp"
#include <corozk/version.hpp>

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
  --clients N   how many processes (6, at least 2)
  --seed N      chooses the faults (random)
  --tls         clients connect by TLS
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
        for (corozk::testing::option_words words(argc, argv); words.next();) {
            if (words.is("--minutes")) {
                wanted.length = std::chrono::minutes(words.number<unsigned>());
            } else if (words.is("--seconds")) {
                wanted.length = std::chrono::seconds(words.number<unsigned>());
            } else if (words.is("--clients")) {
                wanted.clients = words.number<std::size_t>();
            } else if (words.is("--seed")) {
                wanted.seed = words.number<std::uint64_t>();
            } else if (words.is("--keep")) {
                wanted.keep = words.value();
            } else if (words.is("--tls")) {
                wanted.tls = true;
            } else if (words.is("--tls-ca")) {
                role.tls_ca = words.value();
            } else if (words.is("--client")) {
                role.name = words.value();
            } else if (words.is("--hosts")) {
                role.hosts = words.value();
            } else if (words.is("--resource")) {
                role.resource_port = words.number<std::uint16_t>();
            } else if (words.is("--help") || words.is("-h")) {
                std::cout << usage;
                return EXIT_SUCCESS;
            } else {
                words.refuse();
            }
        }
        if (!role.name.empty())
            return run_client(role);
        if (wanted.clients < 2)
            throw std::invalid_argument("--clients must be at least 2");
        if (wanted.tls && !corozk::has_tls())
            throw std::invalid_argument("--tls: this build has no TLS");
        conductor all(std::filesystem::read_symlink("/proc/self/exe").string(), wanted);
        return all() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
