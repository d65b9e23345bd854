// SPDX-License-Identifier: Apache-2.0
// The caches' driver as shipped, with so many nodes that it works in pieces, and events in between.
#include "recipe/cache/cache_core.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace corozk::testing::cache_core_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

constexpr std::size_t any_depth = 100;

std::string nth(int number) {
    std::string digits = std::to_string(number);
    return "/c/" + std::string(4 - digits.size(), '0') + digits;
}

/// A server with one client, which has a cache of `/c`.
class fixture {
public:
    explicit fixture(std::size_t depth = any_depth,
                     bool names = false,
                     cache_options options = cache_options())
        : core_(std::make_shared<cache_core>(port_, "/c", depth, names, std::move(options))) {
        for (int i = 0; i < 500; ++i)
            nodes[nth(i)] = "old";
        nodes["/c"] = "root";
    }
    ~fixture() { core_->stop(); }

    void start() { core_->start(); }
    std::string asked() const { return port_.asked(); }
    std::size_t unanswered() const { return port_.unanswered(); }
    void refuse(error_code ec) { port_.answer(ec); }
    void reconnect() {
        port_.set_state(session_state::suspended, 1);
        port_.set_state(session_state::connected, 1);
    }

    /// Answers everything up to this request, excluding it; all if it is empty.
    void serve(const std::string& until = std::string()) {
        while (!port_.asked().empty() && port_.asked() != until)
            answer();
        REQUIRE(port_.asked() == until);
    }

    void answer() {
        operation& op = port_.front();
        if (op.code == op_code::add_watch)
            watch_ = op.persistent_watcher();
        if (op.code == op_code::get)
            ++reads[op.path];
        if (op.code == op_code::get || op.code == op_code::children || op.code == op_code::exists) {
            auto at = nodes.find(op.path);
            if (at == nodes.end())
                return port_.answer(zk_errc::no_node);
            if (op.code != op_code::exists && unreadable.contains(op.path))
                return port_.answer(zk_errc::no_auth);
            op.answer = at->second;
            op.record.mzxid = static_cast<std::int64_t>(std::hash<std::string>()(at->second));
            for (const auto& [path, data] : nodes) {
                if (parent_path(path) == op.path)
                    ++op.record.num_children;
                if (parent_path(path) == op.path && op.code == op_code::children)
                    op.names.push_back(base_name(path));
            }
        }
        port_.answer();
    }

    // Changes, of which events are sent.
    void set(const std::string& path, std::string data) {
        const bool created = !nodes.contains(path);
        nodes[path] = std::move(data);
        report(created ? watch_event_type::created : watch_event_type::data_changed, path);
    }
    void erase(const std::string& path) {
        nodes.erase(path);
        report(watch_event_type::erased, path);
    }

    void advance(std::chrono::milliseconds by) { port_.advance(by); }

    /// Waits for a state with another revision: told to `told`.
    void next(std::uint64_t seen, std::uint64_t& told) {
        next(seen, [&told](auto, auto state) { told = state.revision; });
    }
    void next(std::uint64_t seen, handler_of<tree_state> handler) {
        cache_states::call_type call;
        std::unique_ptr<pending_call<tree_state>> pending =
            std::make_unique<waiting_call<tree_state>>(*core_, std::move(handler), core_->wake());
        call.result = std::move(pending);
        call.seen = seen;
        core_->next(std::move(call));
        // Lets completions run.
        port_.advance(std::chrono::milliseconds(0));
    }

    const tree_state& state() const { return core_->current(); }
    std::shared_ptr<cache_core> core() const { return core_; }

    /// Called between the driver's pieces of work.
    void between(std::function<void()> what) { port_.between = std::move(what); }

    void check_equal() {
        const tree_state& seen = state();
        REQUIRE(seen.nodes);
        std::map<std::string, std::string> shown;
        for (const auto& [path, node] : *seen.nodes)
            shown[path] = node.data;
        CHECK(shown == nodes);
        CHECK(seen.exists == nodes.contains("/c"));
    }

    std::map<std::string, std::string> nodes;
    std::map<std::string, int> reads;
    std::set<std::string> unreadable;

private:
    void report(watch_event_type type, const std::string& path) {
        REQUIRE(watch_);
        watch_->changed(type, path);
    }

    scripted_port port_;
    std::shared_ptr<cache_core> core_;
    persistent_watch_node* watch_ = nullptr;
};

}  // namespace

TEST_CASE("cache: nodes of a long listing are read once each, in their order") {
    fixture f;
    f.start();
    f.serve();
    f.check_equal();
    for (const auto& [path, count] : f.reads)
        CHECK((path == "/c" || count == 1));
    CHECK(f.state().revision == 1);
}

TEST_CASE("cache: events about nodes of a listing that are not read yet") {
    fixture f;
    f.start();
    f.serve("get " + nth(70));
    CHECK(f.state().revision == 0);
    f.erase(nth(300));
    f.set(nth(301), "changed");
    f.erase(nth(302));
    f.set(nth(302), "created again");
    f.set("/c/new", "new");
    f.set("/c/new/below", "below");
    f.erase(nth(10));  // has been read
    f.serve();
    f.check_equal();
}

TEST_CASE(
    "cache: after a reconnect, nodes that a long listing misses are gone, newer ones are not") {
    fixture f;
    f.nodes[nth(100) + "/below"] = "old";
    f.nodes[nth(450) + "/below"] = "old";
    f.nodes[nth(450) + "-sibling"] = "old";
    f.start();
    f.serve();
    f.check_equal();
    for (int i = 200; i < 490; ++i)
        f.nodes.erase(nth(i));
    f.nodes.erase(nth(450) + "/below");
    f.reads.clear();
    f.reconnect();
    f.serve("get_children /c");
    f.serve("get " + nth(100));
    f.set(nth(300), "created again");
    f.set(nth(480), "created again");
    const auto before = f.state().revision;
    f.serve();
    f.check_equal();
    CHECK(f.state().revision > before);
    // Nobody has asked for what is not listed, if it was not on its way.
    CHECK(f.reads[nth(481)] == 0);
}

TEST_CASE("cache: a large branch that is gone is removed, what is created there meanwhile is not") {
    fixture f;
    f.start();
    f.serve();
    const tree_state kept = f.state();
    const auto all = f.nodes;
    f.nodes.clear();
    f.reconnect();
    f.serve("get /c");
    int pieces = 0;
    f.between([&] {
        if (++pieces != 3)
            return;
        f.set("/c", "root again");
        f.set(nth(1), "created again");
        f.set(nth(499), "created again");
    });
    while (!f.asked().empty()) {
        f.answer();
        // What was deleted is not shown again.
        const tree_state now = f.state();
        if (now.revision != kept.revision && now.nodes->contains(nth(499)))
            CHECK(now.nodes->at(nth(499)).data == "created again");
    }
    f.between(nullptr);
    CHECK(pieces > 3);
    f.check_equal();
    // What somebody keeps does not change.
    CHECK(kept.nodes->size() == all.size());
    CHECK(kept.nodes->at(nth(1)).data == "old");
}

TEST_CASE("cache: nothing is left of a cache that ends in the midst of its work") {
    for (int steps : {1, 3, 20, 70, 300}) {
        std::weak_ptr<cache_core> core;
        {
            fixture f;
            core = f.core();
            f.start();
            for (int i = 0; i < steps; ++i)
                f.answer();
            f.core()->stop();
            f.serve();
            CHECK(f.core().use_count() == 2);  // the fixture's and this one
        }
        CHECK(core.expired());
    }
}

TEST_CASE("cache: a large branch below others is gone, and is created again meanwhile") {
    fixture f;
    auto below = [](int number) { return nth(3) + nth(number).substr(2); };
    for (int i = 0; i < 300; ++i)
        f.nodes[below(i)] = "old";
    f.start();
    f.serve();
    f.check_equal();
    for (int i = 0; i < 300; ++i)
        f.nodes.erase(below(i));
    f.nodes.erase(nth(3));
    f.reconnect();
    f.serve("get " + nth(3));
    int pieces = 0;
    f.between([&] {
        if (++pieces != 2)
            return;
        f.set(nth(3), "created again");
        f.set(below(299), "created again");
    });
    f.serve();
    f.between(nullptr);
    CHECK(pieces > 2);
    f.check_equal();
}

TEST_CASE("cache: a state is told once nothing has changed for a time") {
    using std::chrono::milliseconds;
    cache_options options;
    options.settle = milliseconds(100);
    fixture f(any_depth, false, options);
    f.start();
    f.serve();
    std::uint64_t told = 0;
    f.next(0, told);
    f.advance(milliseconds(99));
    CHECK(told == 0);
    CHECK(f.state().revision == 1);
    f.set(nth(1), "new");
    f.advance(milliseconds(0));
    f.serve();
    CHECK(f.state().revision == 2);
    f.advance(milliseconds(99));
    CHECK(told == 0);
    f.advance(milliseconds(1));
    CHECK(told == 2);
    // It is told at once now, and forgotten by nobody.
    told = 0;
    f.next(1, told);
    CHECK(told == 2);
    told = 0;
    f.next(2, told);
    f.advance(milliseconds(1'000));
    CHECK(told == 0);
    f.erase(nth(1));
    f.advance(milliseconds(0));
    f.serve();
    f.advance(milliseconds(100));
    CHECK(told == 3);
}

TEST_CASE("cache: a state is told in the end, although others follow all the time") {
    using std::chrono::milliseconds;
    cache_options options;
    options.settle = milliseconds(100);
    fixture f(any_depth, false, options);
    f.start();
    f.serve();
    f.advance(milliseconds(100));
    std::uint64_t told = 0;
    f.next(0, told);
    CHECK(told == 1);
    told = 0;
    f.next(1, told);
    for (int i = 0; i < 20; ++i) {
        f.set(nth(1), std::to_string(i));
        f.advance(milliseconds(0));
        f.serve();
        CHECK(told == 0);
        f.advance(milliseconds(50));
    }
    CHECK(told == 21);
    // Nothing is told of a cache that was destroyed.
    told = 0;
    f.next(21, told);
    f.set(nth(1), "last");
    f.advance(milliseconds(0));
    f.serve();
    f.core()->stop();
    f.advance(milliseconds(2'000));
    CHECK(told == 0);
}

TEST_CASE("cache: pauses in which nobody asks do not delay a state further") {
    using std::chrono::milliseconds;
    cache_options options;
    options.settle = milliseconds(100);
    fixture f(any_depth, false, options);
    f.start();
    f.serve();
    f.advance(milliseconds(100));
    std::uint64_t told = 0;
    f.next(0, told);
    CHECK(told == 1);
    told = 0;
    auto change = [&](int value, milliseconds pause) {
        f.set(nth(1), std::to_string(value));
        f.advance(milliseconds(0));
        f.serve();
        f.advance(pause);
    };
    // Each of these settles.
    for (int i = 0; i < 6; ++i)
        change(i, milliseconds(150));
    // After 900 ms: these do not.
    change(6, milliseconds(50));
    f.next(1, told);
    CHECK(told == 0);
    change(7, milliseconds(50));
    CHECK(told == 9);
    // The time begins again with the first state that follows.
    told = 0;
    f.next(9, told);
    for (int i = 0; i < 20; ++i) {
        CHECK(told == 0);
        change(i, milliseconds(50));
    }
    CHECK(told == 29);
    // Nobody asks: after that time each state is told at once.
    for (int i = 0; i < 22; ++i)
        change(i, milliseconds(50));
    told = 0;
    f.next(29, told);
    CHECK(told == 51);
}

TEST_CASE("cache: a state that was read without next is not the first one of a later burst") {
    using std::chrono::milliseconds;
    cache_options options;
    options.settle = milliseconds(100);
    fixture f(any_depth, false, options);
    f.start();
    f.serve();
    f.advance(milliseconds(1'100));
    std::uint64_t told = 0;
    f.next(f.state().revision, told);
    for (int i = 0; i < 3; ++i) {
        f.set(nth(1), std::to_string(i));
        f.advance(milliseconds(0));
        f.serve();
        CHECK(told == 0);
        f.advance(milliseconds(20));
    }
    f.advance(milliseconds(80));
    CHECK(told == 4);
}

TEST_CASE("cache: without data no data is read") {
    using std::chrono::milliseconds;
    cache_options options;
    options.data = false;
    const bool names = GENERATE(false, true);
    fixture f(names ? 1 : any_depth, names, options);
    f.nodes[nth(7) + "/below"] = "old";
    f.start();
    f.serve();
    auto check = [&] {
        std::size_t shown = 0;
        for (const auto& [key, node] : *f.state().nodes) {
            const std::string path = names ? "/c/" + key : key;
            CHECK(node.data.empty());
            CHECK(node.stat.mzxid ==
                  static_cast<std::int64_t>(std::hash<std::string>()(f.nodes.at(path))));
            ++shown;
        }
        CHECK(shown == (names ? 500 : f.nodes.size()));
    };
    check();
    f.set(nth(8), "changed");
    f.advance(milliseconds(0));
    f.serve();
    check();
    f.nodes.erase(nth(7) + "/below");
    f.nodes[nth(9) + "/below"] = "new";
    f.reconnect();
    f.serve();
    check();
    f.erase(nth(7));
    f.set(nth(7), "again");
    f.advance(milliseconds(0));
    f.serve();
    check();
    CHECK(f.reads.empty());
}

TEST_CASE("cache: names that are no UTF-8") {
    fixture f;
    for (const char* name : {"/\xff", "/\xff\xfe", "/\xff\xff"})
        f.nodes[nth(3) + name] = "old";
    f.start();
    f.serve();
    f.check_equal();
    f.nodes.erase(nth(3) + "/\xff\xfe");
    f.reconnect();
    f.serve();
    f.check_equal();
}

TEST_CASE("cache: many children of a node are gone at once") {
    fixture f(1, true);
    f.start();
    f.serve();
    REQUIRE(f.state().nodes->size() == 500);
    CHECK(f.state().nodes->begin()->first == "0000");
    f.nodes.clear();
    f.nodes["/c"] = "root";
    f.reconnect();
    f.serve();
    CHECK(f.state().exists);
    CHECK(f.state().nodes->empty());
}

TEST_CASE("cache: what is too large is not asked for on each connection again") {
    cache_options options;
    options.one_shot_watches = GENERATE(false, true);
    fixture f(any_depth, false, options);
    auto never = [&f](const std::string& question) {
        while (!f.asked().empty()) {
            REQUIRE(f.asked() != question);
            f.answer();
        }
    };
    // The second read shows that the data which was looked at is too large.
    auto refuse_twice = [&f](const std::string& path) {
        for (int i = 0; i < 2; ++i) {
            f.serve("get " + path);
            f.refuse(errc::too_large);
        }
    };
    error_code ec;
    auto told = [&ec](error_code reason, const tree_state&) { ec = reason; };
    SECTION("the children of the root") {
        f.start();
        f.next(0, told);
        for (int i = 0; i < 2; ++i) {
            f.serve("get_children /c");
            f.refuse(errc::too_large);
            CHECK(ec == errc::too_large);
            for (int connections = 0; connections < 2; ++connections) {
                f.reconnect();
                never("get_children /c");
            }
            CHECK(f.state().revision == 0);
            ec.clear();
            f.next(0, told);
        }
        f.serve();
        f.check_equal();
        CHECK_FALSE(ec);
    }
    SECTION("the data of the root") {
        f.start();
        f.next(0, told);
        refuse_twice("/c");
        CHECK(ec == errc::too_large);
        f.reconnect();
        never("get /c");
        f.next(0, told);
        f.serve();
        f.check_equal();
    }
    SECTION("data that became too large, and small in an outage") {
        f.start();
        f.serve();
        f.nodes[nth(3)] = "large";
        f.reconnect();
        refuse_twice(nth(3));
        for (int connections = 0; connections < 2; ++connections) {
            f.reconnect();
            never("get " + nth(3));
            CHECK(f.state().nodes->at(nth(3)).data.empty());
        }
        f.nodes[nth(3)] = "large again";
        f.reconnect();
        f.serve("get " + nth(3));
        f.refuse(errc::too_large);
        f.reconnect();
        never("get " + nth(3));
        f.nodes[nth(3)] = "small";
        f.reconnect();
        f.serve();
        f.check_equal();
    }
    SECTION("data that was too large at first, and small after the outage that it caused") {
        const bool known = GENERATE(false, true);
        f.start();
        if (known) {
            f.serve();
            f.nodes[nth(3)] = "large";
            f.reconnect();
        }
        f.serve("get " + nth(3));
        f.refuse(errc::too_large);
        f.nodes[nth(3)] = "small";
        f.reconnect();
        f.serve();
        f.check_equal();
    }
    SECTION("the children of another node") {
        f.nodes[nth(3) + "/below"] = "old";
        f.start();
        f.serve("get_children " + nth(3));
        f.refuse(errc::too_large);
        f.reconnect();
        never("get_children " + nth(3));
        REQUIRE(f.state().nodes);
        CHECK(f.state().nodes->size() == f.nodes.size() - 1);
        CHECK(f.state().nodes->at(nth(3)).data.empty());
        f.nodes.erase(nth(3) + "/below");
        f.nodes.erase(nth(4));
        f.reconnect();
        never("get_children " + nth(3));
        CHECK(f.state().nodes->size() == f.nodes.size());
        if (!options.one_shot_watches) {
            f.set(nth(3), "new");
            f.advance(std::chrono::milliseconds(0));
            f.serve();
            f.check_equal();
        }
    }
}

TEST_CASE("cache: nodes that may not be read are looked for at once, not one after the other") {
    fixture f;
    for (int i = 0; i < 100; ++i)
        f.unreadable.insert(nth(i));
    f.start();
    f.serve("exists " + nth(0));
    CHECK(f.unanswered() == 64);
    f.serve();
    CHECK(f.state().nodes->size() == f.nodes.size());
    CHECK(f.state().nodes->at(nth(99)).data.empty());
}

}  // namespace corozk::testing::cache_core_test
