// SPDX-License-Identifier: Apache-2.0
// transcript_model FILE SEEDS STEPS: whether the model makes the same of random operations as the
// real server did.
#include "model/network.hpp"
#include "player.hpp"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/time.h>

namespace {

using namespace corozk;

/// Everything that is on its way arrives, and the C clients hear of it.
void breathe(model::server& s, model::network& n, const std::vector<zhandle_t*>& handles) {
    for (bool moved = true; moved;) {
        moved = false;
        n.take_goodbyes();
        n.settle();
        std::vector<int> ids;
        for (const auto& [id, c] : s.connections())
            ids.push_back(id);
        for (int id : ids) {
            model::connection* c = s.find(id);
            if (!c || c->client_gone)
                continue;
            if (c->asked) {
                s.accept(*c);
            } else if (!c->requests.empty()) {
                s.execute(*c);
            } else if (!c->answers.empty()) {
                n.deliver(id);
            } else {
                continue;
            }
            moved = true;
        }
    }
    for (zhandle_t* zh : handles) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(zh, &descriptor, &events, &wait) != ZOK)
            continue;
        while (zookeeper_process(zh, ZOOKEEPER_READ) == ZOK) {
        }
    }
}

std::vector<std::string> play(std::uint64_t seed, int steps) {
    model::server s;
    model::network n(s);
    n.clock = [] { return std::int64_t{0}; };
    comparison::world w;
    w.server = "127.0.0.1:1000";
    w.breathe = [&](const std::vector<zhandle_t*>& handles) { breathe(s, n, handles); };
    return comparison::play(w, seed, steps);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: transcript_model FILE SEEDS STEPS\n";
        return 2;
    }
    try {
        std::ifstream file(argv[1]);
        std::size_t compared = 0;
        for (std::uint64_t seed = 1; seed <= std::stoul(argv[2]); ++seed) {
            std::string last;
            for (const std::string& entry : play(seed, std::stoi(argv[3]))) {
                std::istringstream lines(entry);
                for (std::string line; std::getline(lines, line); last = line) {
                    std::string real;
                    if (std::getline(file, real) && real == line) {
                        ++compared;
                        continue;
                    }
                    std::cerr << "seed " << seed << ", after\n  " << last << "\nthe server says\n  "
                              << real << "\nand the model\n  " << line << "\n";
                    return EXIT_FAILURE;
                }
            }
        }
        std::string more;
        if (std::getline(file, more)) {
            std::cerr << "the server says more: " << more << "\n";
            return EXIT_FAILURE;
        }
        std::cout << compared << " lines are the same\n";
        return compared > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n";
        return EXIT_FAILURE;
    }
}
