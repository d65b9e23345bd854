// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the servers: one at a time, now and then two, and then nobody serves. Only
// when all have caught up with their leader: ZooKeeper 3.8 itself loses acknowledged changes where
// that is interrupted (README).
#include "conductor.hpp"
#include <corozk/testing/four_letter.hpp>

#include <algorithm>

namespace corozk::chaos {

using namespace std::chrono_literals;

bool conductor::kill_server(const std::string& what) {
    if (!all_serve())
        return false;
    std::size_t which = one_of(3);
    server_busy_[which] = true;
    (*servers_)[which].kill();
    begin(what, between(200ms, 3s), [this, which] {
        (*servers_)[which].launch();
        server_busy_[which] = false;
    });
    return true;
}

/// As long as a process needs that collects its garbage.
bool conductor::stop_servers(const std::string& what) {
    if (!all_serve())
        return false;
    std::size_t which = one_of(3);
    auto length = between(100ms, 2 * session_timeout);
    stop_server(what, which, length);
    if (one_in(4))
        stop_server(what, (which + 1) % 3, length);
    return true;
}

void conductor::stop_server(const std::string& what, std::size_t which, milliseconds length) {
    server_busy_[which] = true;
    (*servers_)[which].stop();
    begin(what, length, [this, which] {
        (*servers_)[which].cont();
        server_busy_[which] = false;
    });
}

bool conductor::slow_disk(const std::string& what) {
    if (!all_serve())
        return false;
    std::size_t which = one_of(3);
    server_busy_[which] = true;
    auto length = between(500ms, 5s);
    begin(what, length);
    write_slowly(which, clock::now() + length);
    return true;
}

/// Its writes take long: it stands still most of the time, and goes on for a moment in between.
void conductor::write_slowly(std::size_t which, clock::time_point end) {
    (*servers_)[which].stop();
    later(between(50ms, 400ms), [this, which, end] {
        (*servers_)[which].cont();
        if (calm_ || clock::now() >= end) {
            server_busy_[which] = false;
            return;
        }
        later(between(5ms, 30ms), [this, which, end] { write_slowly(which, end); });
    });
}

bool conductor::cut_off_server(const std::string& what) {
    if (!all_serve())
        return false;
    std::size_t which = one_of(3);
    server_busy_[which] = true;
    hold_quorum_traffic(which, true);
    begin(what, between(500ms, 5s), [this, which] {
        hold_quorum_traffic(which, false);
        server_busy_[which] = false;
    });
    return true;
}

void conductor::hold_quorum_traffic(std::size_t which, bool on) {
    for (std::size_t other = 0; other < 3; ++other) {
        for (auto* route : {routes_[which][other].get(), routes_[other][which].get()}) {
            if (route)
                route->hold(testing::direction::to_client, on);
        }
    }
}

/// Each of them is up, has caught up, and is not busy: with more patience servers were disturbed that
/// lose what they have acknowledged (README.md).
bool conductor::all_serve() {
    if (std::count(server_busy_.begin(), server_busy_.end(), true) > 0)
        return false;
    try {
        for (std::size_t i = 0; i < 3; ++i) {
            auto words = testing::four_letter((*servers_)[i].port(), "srvr", 300ms);
            if (words.find("Mode: ") == words.npos)
                return false;
        }
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

}  // namespace corozk::chaos
