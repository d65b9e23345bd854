// SPDX-License-Identifier: Apache-2.0
#include "recipe/leader/leader_latch_rule.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace corozk::testing::leader_latch_test {

using namespace corozk::detail;

namespace {

latch_view view_of(int flags) {
    latch_view v;
    v.wanted = (flags & 1) != 0;
    v.session = (flags & 2) != 0;
    v.campaigning = (flags & 4) != 0;
    v.granted = (flags & 8) != 0;
    v.leading = (flags & 16) != 0;
    v.lost = (flags & 32) != 0;
    v.resigning = (flags & 64) != 0;
    v.releasing = (flags & 128) != 0;
    v.leaving = (flags & 256) != 0;
    return v;
}

}  // namespace

TEST_CASE("leader_latch: the decision, in all states") {
    for (int flags = 0; flags < 512; ++flags) {
        latch_view v = view_of(flags);
        if (v.campaigning && v.granted)
            continue;
        latch_step step = decide(v);
        CAPTURE(flags);
        switch (step) {
            case latch_step::wait:
                // Only for something that will come: an answer, a session, a wish, a loss.
                CHECK((v.campaigning || v.leading || v.releasing || v.leaving || !v.session));
                break;
            case latch_step::campaign:
                CHECK((v.wanted && v.session && !v.campaigning && !v.granted && !v.leaving));
                CHECK((!v.leading || v.resigning));
                break;
            case latch_step::withdraw: CHECK((!v.wanted && v.campaigning)); break;
            case latch_step::lead: CHECK((v.wanted && v.granted && !v.leading)); break;
            case latch_step::refuse:
                CHECK((!v.wanted && v.granted && !v.leading && !v.releasing));
                break;
            case latch_step::forget: CHECK((v.leading && v.lost)); break;
            case latch_step::release:
                CHECK(v.leading);
                CHECK_FALSE(v.releasing);
                CHECK((!v.wanted || (v.resigning && (v.campaigning || v.granted))));
                break;
            case latch_step::stop:
                CHECK((!v.wanted && !v.campaigning && !v.granted && !v.leading && !v.releasing));
                CHECK_FALSE(v.leaving);
                break;
        }
        if (v.leading && v.lost)
            CHECK(step == latch_step::forget);
    }
}

TEST_CASE("leader_latch: random events; it always comes to what is wanted") {
    std::mt19937 random(3);
    int terms = 0;
    for (int round = 0; round < 2'000; ++round) {
        latch_view v;
        v.wanted = true;
        v.session = true;
        bool stopped = false;
        for (int i = 0; i < 200 && !stopped; ++i) {
            // In the end nothing more happens than answers.
            bool disturb = i < 100;
            switch (random() % 10) {
                case 0:
                    if (disturb)
                        v.wanted = !v.wanted;
                    break;
                case 1:
                    if (disturb) {
                        v.session = !v.session;
                        if (!v.session) {
                            // All that it had is over.
                            v.lost = v.leading;
                            v.campaigning = v.releasing = v.leaving = false;
                        }
                    } else {
                        v.session = true;
                    }
                    break;
                case 2:
                    if (disturb && v.leading)
                        v.resigning = true;
                    break;
                case 3:
                    if (disturb && v.leading)
                        v.lost = true;
                    break;
                case 4:
                case 5:
                    if (v.campaigning && !v.leading) {
                        v.campaigning = false;
                        v.granted = true;
                    }
                    break;
                case 6: v.releasing = v.leaving = false; break;
                default: break;
            }
            switch (decide(v)) {
                case latch_step::wait: break;
                case latch_step::campaign: v.campaigning = true; break;
                case latch_step::withdraw:
                    v.campaigning = false;
                    v.leaving = true;
                    break;
                case latch_step::lead:
                    REQUIRE_FALSE(v.leading);
                    v.granted = false;
                    v.leading = true;
                    v.lost = false;
                    ++terms;
                    break;
                case latch_step::refuse:
                    v.granted = false;
                    v.releasing = true;
                    break;
                case latch_step::forget: v.leading = v.lost = v.resigning = false; break;
                case latch_step::release:
                    REQUIRE_FALSE(v.releasing);
                    v.leading = v.resigning = false;
                    v.releasing = true;
                    break;
                case latch_step::stop: stopped = !v.wanted && !disturb; break;
            }
        }
        if (v.wanted) {
            CHECK(v.leading);
        } else {
            CHECK(stopped);
        }
    }
    CHECK(terms > 2'000);
}

}  // namespace corozk::testing::leader_latch_test
