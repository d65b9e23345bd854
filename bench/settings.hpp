// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What the command line says; each command has defaults of its own (see commands.cpp).
struct settings {
    settings() = default;

    std::vector<std::string> given;  ///< the options of the command line
    std::string hosts;               ///< empty: our own server
    int servers = 1;
    std::size_t observers = 0;         ///< servers of our own beside those
    std::chrono::milliseconds lag{0};  ///< one server hears of everything so much later
    bool on_disk = false;
    bool tls = false;  ///< our own server has a port for TLS, and Netty
    std::string heap = "2g";
    std::size_t warm_up = 20'000;  ///< znodes created, read and deleted before anything is measured
    std::string json_file;
    std::string report_folder;
    std::vector<std::string> from;  ///< files with rows, to be reported instead of measuring
    bool show_progress = true;
    std::size_t repeat = 3;
    std::chrono::milliseconds session_timeout{40'000};

    std::vector<std::size_t> waiters;
    std::size_t sessions = 1;
    std::vector<std::string> implementations;
    std::vector<std::string> recipes{"lock"};
    std::size_t readers = 3;              ///< behind each writer
    std::vector<std::size_t> limits{10};  ///< of a semaphore
    std::size_t processes = 1;
    std::vector<std::size_t> consumers;
    std::vector<std::size_t> clients;
    std::vector<std::size_t> sites;
    std::size_t batch = 100;
    std::size_t window = 1'000;
    std::size_t items = 5'000;
    std::vector<std::size_t> members;
    std::vector<std::string> experiments;  ///< of `paper`
    std::vector<std::size_t> barriers;     ///< entered one after the other
    std::vector<std::size_t> nodes;
    std::size_t operations = 0;
    std::size_t in_flight = 1'000;
    std::size_t watches = 50'000;
    std::string only;  ///< of the cases of stall, those whose name contains this
    std::size_t releases = 30;
    std::chrono::seconds budget{30};     ///< of each row of herd, and each repetition
    std::chrono::seconds duration{600};  ///< of `endure`
    std::vector<std::size_t> loads;      ///< per cent of the servers' capacity that others use
    std::size_t locks = 1;
    std::vector<std::size_t> planned_servers;  ///< empty: as many as there are
    std::vector<std::string> peers;
    std::vector<std::string> systems;   ///< of `systems` and `safety`
    std::vector<std::size_t> behind;    ///< so many nodes before the one that joins
    std::chrono::seconds deadline{60};  ///< of a peer, for each thing it is asked for

    std::vector<std::string> judged_command;
    std::string judged_name;
    std::chrono::milliseconds hold{1};  ///< so long each contender holds the lock
    bool holds_itself = false;          ///< it decides by itself how long
    std::chrono::seconds stall{20};
    std::size_t kills = 0;
    bool fair = false;                            ///< overtaking is a fault
    std::chrono::milliseconds queued_after{500};  ///< who has said `waiting`, and not when

    std::size_t stops = 3;  ///< processes of `safety` that have a fault while they hold the lock
    std::vector<std::string> faults;

    bool was_given(std::string_view option) const {
        return std::find(given.begin(), given.end(), option) != given.end();
    }

    bool look_only = false;            ///< nothing is done to the server, which is not ours
    std::chrono::seconds interval{5};  ///< between two looks
    std::size_t looks = 0;             ///< 0: until it is interrupted
    std::size_t most_watches = 100'000;
    std::size_t crowd = 10;  ///< so many sessions that watch the same are worth a word
};

}  // namespace corozk::bench
