// SPDX-License-Identifier: Apache-2.0
// Where clients go when the list of servers is replaced: few move, and the load is even.
#include "session/relocation.hpp"

#include "session/connector.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace corozk::testing::relocation_test {

using namespace corozk::detail;
using namespace std::chrono_literals;
using kind = connector::action::kind_type;
using endpoint = connector::endpoint;

namespace {

/// The load of each server after the change, if it was 1 / before before.
struct loads {
    double kept = 0;
    double added = 0;
    double moved = 0;
};

loads after(std::size_t before, std::size_t kept, std::size_t added) {
    constexpr int clients = 5000;
    const double one = 1.0 / (static_cast<double>(before) * clients);
    loads all;
    bool possible = true;
    for (std::size_t server = 0; server < before; ++server) {
        for (int i = 0; i < clients; ++i) {
            list_change change;
            change.before = before;
            change.kept = kept;
            change.added = added;
            change.stays = server < kept;
            auto where = relocate(change, (i + 0.5) / clients);
            possible &= change.stays || where != relocation::stay;
            possible &= where != relocation::to_added || added > 0;
            possible &= where != relocation::to_kept || kept > 0;
            all.moved += where == relocation::stay ? 0 : one;
            (where == relocation::to_added ? all.added : all.kept) += one;
        }
    }
    CHECK(possible);
    all.kept /= static_cast<double>(kept);
    all.added /= static_cast<double>(added);
    return all;
}

std::string list(int first, int last) {
    std::string text;
    for (int i = first; i <= last; ++i)
        text += (text.empty() ? "10.0.0." : ",10.0.0.") + std::to_string(i);
    return text;
}

/// A client's server before and after a change of the list, and how long it took to leave.
struct journey {
    endpoint from;
    endpoint to;
    std::chrono::milliseconds waited{};
};

/// @param between  a list that is replaced at once; empty: none
journey travel(unsigned seed,
               const std::string& before,
               const std::string& after,
               const std::string& between = std::string()) {
    client_options options(before);
    std::mt19937_64 random(seed);
    connector machine(options, parse_hosts(before), random);
    auto now = time_point() + 1h;
    machine.start(now);
    REQUIRE(machine.deadline() <= now);
    journey j;
    j.from = j.to = machine.next(now).server;
    machine.established(4s, false, now);
    const auto replaced = now;
    if (!between.empty())
        machine.replace(parse_hosts(between), now);
    machine.replace(parse_hosts(after), now);
    while (machine.deadline() != time_point::max()) {
        if (machine.next(now).kind == kind::ask_servers) {
            REQUIRE(machine.search().candidates().size() == 1);
            j.to = machine.search().candidates().front();
            break;
        }
        now = std::max(now, machine.deadline());
    }
    j.waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - replaced);
    return j;
}

}  // namespace

TEST_CASE("relocation: an even load stays even, however the list changes") {
    for (std::size_t before = 1; before <= 7; ++before) {
        for (std::size_t kept = 0; kept <= before; ++kept) {
            for (std::size_t added = 0; added <= 7; ++added) {
                if (kept + added == 0)
                    continue;
                INFO(before << " servers, then " << kept << " of them and " << added << " more");
                loads all = after(before, kept, added);
                double even = 1.0 / static_cast<double>(kept + added);
                if (kept > 0)
                    CHECK(std::abs(all.kept - even) < 0.001);
                if (added > 0)
                    CHECK(std::abs(all.added - even) < 0.001);
                // As few as can be: those of removed servers, and those whose server has too many.
                double removed = 1 - static_cast<double>(kept) / static_cast<double>(before);
                double more = static_cast<double>(added) * even;
                CHECK(all.moved < std::max(removed, more) + 0.001);
            }
        }
    }
}

TEST_CASE("relocation: without servers, and where the client's server was in neither list") {
    list_change change;
    CHECK(relocate(change, 0) == relocation::stay);
    change.before = change.kept = 2;
    CHECK(relocate(change, 0) == relocation::to_kept);
    CHECK(relocate(change, 0.999) == relocation::to_kept);
    change.before = 1;
    CHECK(relocate(change, 0.999) == relocation::stay);
}

TEST_CASE("relocation: a list that was replaced before anybody moved does not matter") {
    const std::string lists[][3] = {
        {list(1, 1), list(2, 2), list(2, 3)},
        {list(1, 1), list(1, 2), list(1, 3)},
        {list(1, 3), list(4, 4), list(1, 3)},
    };
    for (const auto& [before, between, after] : lists) {
        INFO(before << " -> " << between << " -> " << after);
        std::map<endpoint, int> load;
        constexpr int clients = 1000;
        for (unsigned i = 0; i < clients; ++i)
            ++load[travel(i, before, after, between).to];
        const auto servers = static_cast<int>(parse_hosts(after).hosts.size());
        CHECK(load.size() == parse_hosts(after).hosts.size());
        for (const auto& [server, count] : load)
            CHECK(std::abs(count - clients / servers) < clients / servers / 5);
    }
}

TEST_CASE("relocation: a thousand clients are spread evenly, and do not move together") {
    struct change {
        std::string before, after;
        int servers;
        double moving;
    };
    const change changes[] = {
        {list(1, 3), list(1, 5), 5, 0.4},
        {list(1, 5), list(1, 3), 3, 0.4},
        {list(1, 3), list(4, 6), 3, 1},
        {list(1, 3), list(3, 5), 3, 2 / 3.0},
        {list(1, 3), list(2, 7), 6, 2 / 3.0},
        {list(1, 3), list(1, 3), 3, 0},
    };
    for (const auto& [before, after, servers, moving] : changes) {
        INFO(before << " -> " << after);
        std::map<endpoint, int> load;
        std::map<long, int> moved;  // by second
        int all_moved = 0;
        constexpr int clients = 2000;
        for (int i = 0; i < clients; ++i) {
            journey j = travel(static_cast<unsigned>(i), before, after);
            ++load[j.to];
            if (j.to != j.from) {
                ++all_moved;
                ++moved[static_cast<long>(j.waited / 1s)];
            }
        }
        CHECK(load.size() == static_cast<std::size_t>(servers));
        for (const auto& [server, count] : load)
            CHECK(std::abs(count - clients / servers) < clients / servers / 5);
        CHECK(std::abs(all_moved - moving * clients) < clients / 20);
        // Within one session timeout, 4 s.
        for (const auto& [second, count] : moved) {
            CHECK(second <= 4);
            CHECK(count < all_moved / 3);
        }
    }
}

}  // namespace corozk::testing::relocation_test
