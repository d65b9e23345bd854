// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/deadlocks_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>

namespace corozk::testing::deadlocks_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

contender_info node(std::string path,
                    std::int64_t session,
                    std::vector<std::string> waits_for = {}) {
    contender_info c;
    c.path = std::move(path);
    c.session_id = session;
    c.holds = waits_for.empty();
    c.waits_for = std::move(waits_for);
    return c;
}

/// For any of these.
contender_info permit(std::string path,
                      std::int64_t session,
                      std::vector<std::string> waits_for = {}) {
    contender_info c = node(std::move(path), session, std::move(waits_for));
    c.kind = "lease";
    return c;
}

/// A lock: everybody waits for the one ahead.
surveyed_queue queue(std::string path, const std::vector<std::int64_t>& sessions) {
    surveyed_queue line;
    line.path = path;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        std::vector<std::string> ahead;
        if (i > 0)
            ahead.push_back(line.contenders.back().path);
        line.contenders.push_back(
            node(path + "/" + std::to_string(i) + "-" + std::to_string(sessions[i]),
                 sessions[i],
                 ahead));
    }
    return line;
}

/// A semaphore: who has no permit waits for any of those nearest ahead that have enough together, as a
/// section of a list of all.
surveyed_queue semaphore(const std::string& path,
                         const std::vector<std::int64_t>& sessions,
                         std::size_t limit) {
    surveyed_queue line;
    line.path = path;
    const std::size_t count = sessions.size();
    std::vector<std::string> last_first;
    for (std::size_t i = 0; i < count; ++i)
        line.contenders.push_back(permit(
            path + "/" + std::to_string(i) + "-" + std::to_string(sessions[i]), sessions[i]));
    for (std::size_t i = count; i-- > 0;)
        last_first.push_back(line.contenders[i].path);
    const auto all = std::make_shared<const std::vector<std::string>>(std::move(last_first));
    for (std::size_t i = limit; i < count; ++i) {
        line.contenders[i].holds = false;
        line.contenders[i].waits_for = path_list(all, count - i, limit);
    }
    return line;
}

void check_circle(const std::vector<wait_edge>& circle) {
    REQUIRE(circle.size() >= 2);
    for (std::size_t i = 0; i < circle.size(); ++i) {
        const wait_edge& next = circle[(i + 1) % circle.size()];
        CHECK(circle[i].blocker.session_id == next.waiter.session_id);
    }
    std::set<std::int64_t> sessions;
    for (const wait_edge& e : circle)
        CHECK(sessions.insert(e.waiter.session_id).second);
}

/// Whether everybody gets done if each releases everything once it waits for nothing: by trying.
bool all_get_done(std::vector<std::vector<std::int64_t>> queues) {
    for (bool moved = true; moved;) {
        moved = false;
        std::set<std::int64_t> waiting;
        std::set<std::int64_t> here;
        for (const auto& q : queues) {
            for (std::size_t i = 0; i < q.size(); ++i) {
                here.insert(q[i]);
                bool behind_another = std::any_of(q.begin(),
                                                  q.begin() + static_cast<long>(i),
                                                  [&](std::int64_t s) { return s != q[i]; });
                if (behind_another)
                    waiting.insert(q[i]);
            }
        }
        for (std::int64_t s : here) {
            if (waiting.contains(s))
                continue;
            for (auto& q : queues)
                std::erase(q, s);
            moved = true;
        }
    }
    return std::all_of(queues.begin(), queues.end(), [](const auto& q) { return q.empty(); });
}

/// Whether everybody gets done if each releases everything once all its waits have ended: by trying.
bool all_get_done(const std::vector<surveyed_queue>& queues) {
    std::map<std::string, std::int64_t> session_of;
    std::set<std::int64_t> left;
    for (const surveyed_queue& q : queues) {
        for (const contender_info& c : q.contenders) {
            session_of[c.path] = c.session_id;
            left.insert(c.session_id);
        }
    }
    for (bool moved = true; moved;) {
        std::set<std::int64_t> waiting;
        for (const surveyed_queue& q : queues) {
            for (const contender_info& c : q.contenders) {
                std::size_t others = 0, done = 0;
                for (const std::string& path : c.waits_for) {
                    const std::int64_t session = session_of.at(path);
                    others += session != c.session_id ? 1 : 0;
                    done += session != c.session_id && !left.contains(session) ? 1 : 0;
                }
                if (others > 0 && (c.kind == "lease" ? done == 0 : done < others))
                    waiting.insert(c.session_id);
            }
        }
        moved =
            std::erase_if(left, [&waiting](std::int64_t s) { return !waiting.contains(s); }) > 0;
    }
    return left.empty();
}

/// Without the waits that have an edge which was not there earlier.
std::vector<surveyed_queue> waits_since(const std::vector<surveyed_queue>& earlier,
                                        std::vector<surveyed_queue> later) {
    std::set<std::pair<std::string, std::string>> edges;
    for (const surveyed_queue& q : earlier) {
        for (const contender_info& c : q.contenders) {
            for (const std::string& path : c.waits_for)
                edges.emplace(c.path, path);
        }
    }
    for (surveyed_queue& q : later) {
        for (contender_info& c : q.contenders) {
            std::vector<std::string> kept;
            for (const std::string& path : c.waits_for) {
                if (edges.contains({c.path, path}))
                    kept.push_back(path);
            }
            if (c.kind == "lease" && kept.size() != c.waits_for.size())
                kept.clear();
            c.waits_for = std::move(kept);
        }
    }
    return later;
}

}  // namespace

TEST_CASE("deadlocks: a queue is none, a circle is one") {
    CHECK(judge({}).edges.empty());
    wait_graph graph = judge({queue("/a", {1, 2, 3})});
    CHECK(graph.edges.size() == 2);
    CHECK(graph.edges[0].path == "/a");
    CHECK(graph.edges[0].waiter.session_id == 2);
    CHECK(graph.edges[0].blocker.session_id == 1);
    CHECK(graph.deadlocks.empty());

    graph = judge({queue("/a", {1, 2}), queue("/b", {2, 1}), queue("/c", {3, 4})});
    REQUIRE(graph.deadlocks.size() == 1);
    check_circle(graph.deadlocks[0]);
    CHECK(graph.deadlocks[0].size() == 2);
    CHECK(graph.edges.size() == 3);
}

TEST_CASE("deadlocks: a long circle, one behind it, and two of them") {
    wait_graph graph = judge({queue("/a", {1, 2}),
                              queue("/b", {2, 3}),
                              queue("/c", {3, 1, 9}),
                              queue("/d", {5, 6}),
                              queue("/e", {6, 5})});
    REQUIRE(graph.deadlocks.size() == 2);
    for (const auto& circle : graph.deadlocks) {
        check_circle(circle);
        for (const wait_edge& e : circle)
            CHECK(e.waiter.session_id != 9);
    }
    CHECK(graph.deadlocks[0].size() + graph.deadlocks[1].size() == 5);
}

TEST_CASE("deadlocks: that one waits for itself is none, and identities tell participants apart") {
    CHECK(judge({queue("/a", {1, 1, 1})}).deadlocks.empty());
    auto lines = std::vector<surveyed_queue>{queue("/a", {1, 1}), queue("/b", {1, 1})};
    lines[0].contenders[0].data = lines[1].contenders[1].data = "x";
    lines[0].contenders[1].data = lines[1].contenders[0].data = "y";
    wait_graph graph = judge(lines);
    REQUIRE(graph.deadlocks.size() == 1);
    CHECK(graph.deadlocks[0].size() == 2);
    CHECK(graph.deadlocks[0][0].waiter.data != graph.deadlocks[0][1].waiter.data);
}

TEST_CASE("deadlocks: an identity joins sessions, and is no reason to miss what they do alone") {
    // One holds a in session 1 and waits at b in session 2; the other the other way round.
    auto judged = [](const std::string& one, const std::string& other) {
        std::vector<surveyed_queue> lines{queue("/a", {1, 4}), queue("/b", {3, 2})};
        lines[0].contenders[0].data = lines[1].contenders[1].data = one;
        lines[1].contenders[0].data = lines[0].contenders[1].data = other;
        wait_graph graph = judge(lines);
        wait_graph twice = judge_twice(lines, lines);
        CHECK(twice.deadlocks.size() == graph.deadlocks.size());
        CHECK(graph.edges.size() == 2);
        // One of the waits is new.
        auto before = lines;
        before[1].contenders.pop_back();
        CHECK(judge_twice(before, lines).deadlocks.empty());
        return graph.deadlocks;
    };
    auto found = judged("x", "y");
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].size() == 2);
    CHECK(found[0][0].blocker.data == found[0][1].waiter.data);
    CHECK(found[0][1].blocker.data == found[0][0].waiter.data);
    // Strangers: without an identity, and with the one that Curator writes on a host.
    CHECK(judged("", "").empty());
    CHECK(judged("x", "").empty());
    CHECK(judged("10.0.0.5", "10.0.0.6").empty());
    CHECK(judged("fe80::1%2", "::1").empty());
    CHECK(judged("10.0.0.5", "y").empty());
    // All have the same one: each waits for another session of itself.
    CHECK(judged("x", "x").empty());

    // Sessions that wait for each other do so whatever they are called, and once.
    for (const char* of_second : {"x", "y", "", "10.0.0.5"}) {
        std::vector<surveyed_queue> lines{
            queue("/a", {1, 2}), queue("/b", {2, 1}), queue("/c", {3, 4})};
        for (surveyed_queue& line : lines) {
            for (contender_info& c : line.contenders)
                c.data = c.session_id == 2 ? of_second : "x";
        }
        wait_graph graph = judge(lines);
        REQUIRE(graph.deadlocks.size() == 1);
        check_circle(graph.deadlocks[0]);
    }
}

TEST_CASE("deadlocks: of several permits any one would do") {
    surveyed_queue permits;
    permits.path = "/s";
    permits.contenders = {
        permit("/s/1", 1), permit("/s/2", 2), permit("/s/3", 3, {"/s/2", "/s/1"})};
    // 1 waits for 3, but 2 will give its permit back.
    auto back = queue("/a", {3, 1});
    CHECK(judge({permits, back}).deadlocks.empty());
    // 2 waits for 3 as well: all of them are stuck.
    wait_graph graph = judge({permits, back, queue("/b", {3, 2})});
    REQUIRE(graph.deadlocks.size() == 1);
    check_circle(graph.deadlocks[0]);
}

TEST_CASE("deadlocks: a writer waits for all readers") {
    surveyed_queue shared;
    shared.path = "/s";
    SECTION("of which one never ends") {
        shared.contenders = {node("/s/1", 1), node("/s/2", 2), node("/s/3", 3, {"/s/2", "/s/1"})};
        // 1 waits for 3; 2 does not wait, and will end.
        wait_graph graph = judge({shared, queue("/a", {3, 1})});
        CHECK(graph.edges.size() == 3);
        REQUIRE(graph.deadlocks.size() == 1);
        check_circle(graph.deadlocks[0]);
    }
    SECTION("and for its own place, which it replaces") {
        shared.contenders = {node("/s/1", 1), node("/s/2", 2), node("/s/3", 2, {"/s/2", "/s/1"})};
        CHECK(judge({shared}).deadlocks.empty());
        wait_graph graph = judge({shared, queue("/a", {2, 1})});
        REQUIRE(graph.deadlocks.size() == 1);
        check_circle(graph.deadlocks[0]);
    }
}

TEST_CASE("deadlocks: thousands wait, with nothing in the way, and behind a circle") {
    std::vector<std::int64_t> sessions(20'000);
    std::iota(sessions.begin(), sessions.end(), 1);
    surveyed_queue many = queue("/a", sessions);
    CHECK(judge({many}).deadlocks.empty());
    wait_graph graph = judge({many, queue("/b", {2, 3})});
    CHECK(graph.deadlocks.empty());
    graph = judge({many, queue("/b", {3, 1})});
    REQUIRE(graph.deadlocks.size() == 1);
    check_circle(graph.deadlocks[0]);
    CHECK(graph.deadlocks[0].size() == 3);
    CHECK(graph.edges.size() == sessions.size());
    // A circle as large as that.
    graph = judge({many, queue("/b", {sessions.back(), 1})});
    REQUIRE(graph.deadlocks.size() == 1);
    CHECK(graph.deadlocks[0].size() == sessions.size());
}

TEST_CASE("deadlocks: hundreds wait for any of hundreds of permits") {
    constexpr std::int64_t holders = 300;
    constexpr std::int64_t waiters = 700;
    surveyed_queue permits;
    permits.path = "/s";
    std::vector<std::string> held;
    for (std::int64_t i = 1; i <= holders; ++i) {
        held.push_back("/s/" + std::to_string(i));
        permits.contenders.push_back(permit(held.back(), i));
    }
    for (std::int64_t i = holders + 1; i <= holders + waiters; ++i)
        permits.contenders.push_back(permit("/s/" + std::to_string(i), i, held));
    wait_graph graph = judge({permits});
    CHECK(graph.deadlocks.empty());
    CHECK(graph.edges.size() == 16 * waiters);
    for (const wait_edge& e : graph.edges)
        CHECK((e.blocker.holds && !e.waiter.holds));
    // All holders but the last wait for one who waits for a permit, then the last does, too.
    std::vector<std::int64_t> others(holders - 1);
    std::iota(others.begin(), others.end(), 1);
    others.insert(others.begin(), holders + 1);
    CHECK(judge({permits, queue("/a", others)}).deadlocks.empty());
    others.push_back(holders);
    graph = judge({permits, queue("/a", others)});
    REQUIRE(graph.deadlocks.size() == 1);
    check_circle(graph.deadlocks[0]);
}

TEST_CASE("deadlocks: ten thousand wait for any of a thousand permits, in one list") {
    constexpr std::size_t limit = 1'000;
    std::vector<std::int64_t> sessions(11'000);
    std::iota(sessions.begin(), sessions.end(), 1);
    const surveyed_queue permits = semaphore("/s", sessions, limit);
    // A wait that one of all its blockers will end, and one that none of them will.
    std::vector<std::int64_t> holders(sessions.begin(), sessions.begin() + limit - 1);
    holders.insert(holders.begin(), static_cast<std::int64_t>(limit) + 1);
    std::vector<surveyed_queue> queues{permits, queue("/a", holders)};
    wait_graph graph = judge(queues);
    CHECK(graph.deadlocks.empty());
    CHECK(graph.edges.size() == 10'000 * 16 + holders.size() - 1);
    holders.push_back(limit);
    queues.back() = queue("/a", holders);
    for (bool twice : {false, true}) {
        graph = twice ? judge_twice(queues, queues) : judge(queues);
        REQUIRE(graph.deadlocks.size() == 1);
        check_circle(graph.deadlocks[0]);
        CHECK(graph.deadlocks[0].size() == 2);
    }
}

TEST_CASE("deadlocks: what was not there all the time is none") {
    auto a = queue("/a", {1, 2});
    auto b = queue("/b", {2, 1});
    CHECK(judge_twice({a, b}, {a, b}).deadlocks.size() == 1);
    // The same participants, other nodes.
    auto later = b;
    for (contender_info& c : later.contenders) {
        c.path += "-again";
        std::vector<std::string> waits_for(c.waits_for.begin(), c.waits_for.end());
        for (std::string& path : waits_for)
            path += "-again";
        c.waits_for = std::move(waits_for);
    }
    wait_graph graph = judge_twice({a, b}, {a, later});
    CHECK(graph.deadlocks.empty());
    CHECK(graph.edges.size() == 2);
    CHECK(judge_twice({a}, {a, b}).deadlocks.empty());
    CHECK(judge_twice({a, b}, {a}).deadlocks.empty());
}

TEST_CASE("deadlocks: random queues; found exactly when somebody never gets done") {
    std::mt19937 random(11);
    int found = 0;
    for (int round = 0; round < 3'000; ++round) {
        std::size_t lines = random() % 4 + 1;
        std::vector<std::vector<std::int64_t>> queues(lines);
        for (auto& q : queues) {
            for (std::int64_t s = 1; s <= 5; ++s) {
                if (random() % 3 == 0)
                    q.push_back(s);
            }
            std::shuffle(q.begin(), q.end(), random);
        }
        std::vector<surveyed_queue> surveyed;
        for (std::size_t i = 0; i < lines; ++i)
            surveyed.push_back(queue("/" + std::to_string(i), queues[i]));
        wait_graph graph = judge(surveyed);
        CHECK(graph.deadlocks.empty() == all_get_done(queues));
        for (const auto& circle : graph.deadlocks)
            check_circle(circle);
        found += graph.deadlocks.empty() ? 0 : 1;
    }
    CHECK(found > 300);
}

TEST_CASE("deadlocks: random locks and semaphores, and what of them was there all the time") {
    std::mt19937 random(12);
    auto line_up = [&random](std::size_t most) {
        std::vector<std::int64_t> sessions;
        for (std::size_t i = random() % (most + 1); i > 0; --i)
            sessions.push_back(static_cast<std::int64_t>(random() % 6 + 1));
        return sessions;
    };
    int found = 0, found_twice = 0;
    for (int round = 0; round < 3'000; ++round) {
        std::vector<surveyed_queue> earlier, later;
        for (std::size_t i = random() % 4 + 1; i > 0; --i) {
            const std::string path = "/" + std::to_string(i);
            const std::size_t limit = random() % 4;  // 0: a lock
            auto survey = [&](const std::vector<std::int64_t>& sessions) {
                return limit == 0 ? queue(path, sessions) : semaphore(path, sessions, limit);
            };
            auto sessions = line_up(8);
            earlier.push_back(survey(sessions));
            // Some have come.
            for (std::int64_t newcomer : line_up(2))
                sessions.push_back(newcomer);
            later.push_back(survey(sessions));
            // One was replaced, so that its node is another one.
            if (!sessions.empty() && random() % 3 == 0) {
                const std::size_t at = random() % sessions.size();
                sessions[at] = static_cast<std::int64_t>(random() % 6 + 1);
                later.back() = survey(sessions);
            }
        }
        wait_graph graph = judge(earlier);
        CHECK(graph.deadlocks.empty() == all_get_done(earlier));
        found += graph.deadlocks.empty() ? 0 : 1;
        for (const auto& circle : graph.deadlocks)
            check_circle(circle);
        graph = judge_twice(earlier, later);
        CHECK(graph.deadlocks.empty() == all_get_done(waits_since(earlier, later)));
        found_twice += graph.deadlocks.empty() ? 0 : 1;
        for (const auto& circle : graph.deadlocks)
            check_circle(circle);
    }
    CHECK(found > 300);
    CHECK(found_twice > 300);
}

}  // namespace corozk::testing::deadlocks_test
