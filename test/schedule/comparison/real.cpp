// SPDX-License-Identifier: Apache-2.0
// transcript_real FILE SEEDS STEPS: what the real server and the real C client make of random
// operations.
#include "player.hpp"
#include <corozk/testing/server.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <string>
#include <sys/time.h>

namespace {

/// Until one of the sockets is ready, or for a moment.
void breathe(const std::vector<zhandle_t*>& handles) {
    std::vector<pollfd> sockets;
    std::vector<zhandle_t*> owners;
    for (zhandle_t* zh : handles) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(zh, &descriptor, &events, &wait) != ZOK || descriptor < 0)
            continue;
        pollfd p{};
        p.fd = descriptor;
        p.events = static_cast<short>(((events & ZOOKEEPER_READ) ? POLLIN : 0) |
                                      ((events & ZOOKEEPER_WRITE) ? POLLOUT : 0));
        sockets.push_back(p);
        owners.push_back(zh);
    }
    constexpr int moment = 10;  // ms
    ::poll(sockets.data(), sockets.size(), moment);
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        int events = ((sockets[i].revents & (POLLIN | POLLHUP | POLLERR)) ? ZOOKEEPER_READ : 0) |
                     ((sockets[i].revents & POLLOUT) ? ZOOKEEPER_WRITE : 0);
        if (events != 0)
            zookeeper_process(owners[i], events);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: transcript_real FILE SEEDS STEPS\n";
        return 2;
    }
    try {
        // That the server looks for empty containers would count among the zxids.
        corozk::testing::server_options options;
        options.java_properties = {corozk::testing::containers_stay};
        corozk::testing::server server(options);
        corozk::comparison::world w;
        w.server = server.hosts();
        w.breathe = breathe;
        std::ofstream file(argv[1]);
        for (std::uint64_t seed = 1; seed <= std::stoul(argv[2]); ++seed) {
            for (const std::string& line : corozk::comparison::play(w, seed, std::stoi(argv[3])))
                file << line << "\n";
        }
        return file.good() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n";
        return EXIT_FAILURE;
    }
}
