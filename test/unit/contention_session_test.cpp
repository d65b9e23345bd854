// SPDX-License-Identifier: Apache-2.0
// A contention queue as shipped, on a session without a server.
#include "contention_model.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/locks/shared_lock_rule.hpp"
#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::contention_session_test {

using namespace corozk::detail;

namespace {

struct entrant {
    std::shared_ptr<contender> self;
    int calls = 0;
    error_code error;
    ownership held;

    bool has_left() const { return !self->current_queue(); }
};

/// Contenders of one client for a lock, and a server that answers in the order in which it is asked.
class one_client {
public:
    one_client() : queue_(queue_of(port, settings_for(the_exclusive_rule))) {}

    entrant& enter() {
        entrant& e = *entrants.emplace_back(std::make_unique<entrant>());
        auto called = [&e](error_code ec, ownership held) {
            ++e.calls;
            e.error = ec;
            e.held = std::move(held);
        };
        e.self =
            queue_.enter(acquire_request(write_kind), data_, user_call<ownership>(port, called));
        return e;
    }

    void answer_all() {
        while (port.unanswered() > 0) {
            operation& op = port.front();
            if (op.generation != 0 && op.generation != port.status().generation) {
                port.answer(zk_errc::session_expired);
                continue;
            }
            error_code ec;
            switch (op.code) {
                case op_code::create:
                    op.answer = op.path;
                    append_sequence(op.answer, ++sequence_);
                    op.record.ephemeral_owner = port.status().session_id;
                    op.record.czxid = sequence_;
                    op.sent_in = port.status().generation;
                    nodes_.emplace_back(base_name(op.answer), sequence_);
                    break;
                case op_code::children:
                    for (const auto& [name, czxid] : nodes_)
                        op.names.push_back(name);
                    break;
                case op_code::get: {
                    const auto at =
                        std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) {
                            return node.first == base_name(op.path);
                        });
                    if (at == nodes_.end())
                        ec = zk_errc::no_node;
                    else
                        op.record.czxid = at->second;
                    break;
                }
                default: FAIL("asked: " << port.asked());
            }
            port.answer(ec);
        }
    }

    void lose_session() {
        nodes_.clear();
        port.set_state(session_state::lost, port.status().generation);
    }

    std::size_t left() const {
        return static_cast<std::size_t>(std::count_if(
            entrants.begin(), entrants.end(), [](const auto& e) { return e->has_left(); }));
    }

    scripted_port port;
    std::vector<std::unique_ptr<entrant>> entrants;

private:
    contention_queue& queue_;
    contender_data data_ = std::make_shared<const std::string>("me");
    std::int32_t sequence_ = 0;
    std::vector<std::pair<std::string, std::int64_t>> nodes_;
};

}  // namespace

TEST_CASE("contention queue: when a session ends, so many contenders fail at a time") {
    constexpr std::size_t count = 350;
    constexpr std::size_t at_once = 100;
    one_client c;
    for (std::size_t i = 0; i < count; ++i)
        c.enter();
    c.answer_all();
    const entrant& holder = *c.entrants.front();
    REQUIRE(holder.calls == 1);
    REQUIRE(holder.held.valid());

    std::vector<std::size_t> left;
    c.port.between = [&] { left.push_back(c.left()); };
    SECTION("before there is another session") {}
    SECTION("while another one begins, in which somebody enters") {
        c.port.between = [&, entered = false]() mutable {
            left.push_back(c.left());
            if (entered || left.back() == 0)
                return;
            entered = true;
            c.enter();
            c.port.set_state(session_state::connected, 2);
        };
    }
    c.lose_session();
    c.port.between = {};
    c.answer_all();

    CHECK(left.size() > count / at_once);
    for (std::size_t i = 1; i < left.size(); ++i)
        CHECK(left[i] <= left[i - 1] + at_once);
    // The holder is among the first.
    CHECK(holder.has_left());
    CHECK_FALSE(holder.held.valid());
    for (std::size_t i = 0; i < c.entrants.size(); ++i) {
        const entrant& e = *c.entrants[i];
        INFO(i);
        CHECK(e.calls == 1);
        if (i == 0)
            CHECK_FALSE(e.error);
        else if (i < count)
            CHECK(e.error == zk_errc::session_expired);
        else
            CHECK((!e.error && e.held.valid()));
    }
    CHECK(c.left() == count);
}

}  // namespace corozk::testing::contention_session_test
