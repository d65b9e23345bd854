// SPDX-License-Identifier: Apache-2.0
#include "chaos/deck.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace corozk::testing::chaos_deck_test {

using corozk::chaos::deck;

namespace {

constexpr std::size_t number_of_cards = 8;

/// A deck, and what it has dealt.
struct game {
    explicit game(std::uint64_t seed) : random(seed) {}

    void deal(std::size_t times = 1) {
        for (std::size_t i = 0; i < times; ++i) {
            cards.deal([this](std::size_t card) {
                bool can_be = !blocked.contains(card);
                if (can_be)
                    dealt.push_back(card);
                return can_be;
            });
        }
    }

    deck::engine random;
    deck cards{std::vector<int>(number_of_cards, 1), random};
    std::set<std::size_t> blocked;
    std::vector<std::size_t> dealt;
};

}  // namespace

TEST_CASE("chaos: the deck deals each card once before any comes again") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        game g(seed);
        g.deal(number_of_cards);
        CHECK(std::set(g.dealt.begin(), g.dealt.end()).size() == number_of_cards);
        CHECK(g.cards.first_round_is_over());
        g.deal(number_of_cards);
        CHECK(g.dealt.size() == 2 * number_of_cards);
    }
}

TEST_CASE("chaos: the deck's order is the seed's") {
    auto order = [](std::uint64_t seed) {
        game g(seed);
        g.deal(3 * number_of_cards);
        return g.dealt;
    };
    CHECK(order(1) == order(1));
    CHECK(order(1) != order(2));
}

TEST_CASE("chaos: a card that cannot be played waits, and holds up no other") {
    game g(1);
    g.blocked = {3};
    g.deal(number_of_cards - 1);
    CHECK(g.dealt.size() == number_of_cards - 1);
    CHECK(std::set(g.dealt.begin(), g.dealt.end()).size() == number_of_cards - 1);
    CHECK_FALSE(g.cards.first_round_is_over());

    std::size_t before = g.dealt.size();
    g.deal(10);
    CHECK(g.dealt.size() > before);

    g.blocked.clear();
    g.deal();
    CHECK(g.dealt.back() == 3);
    CHECK(g.cards.first_round_is_over());
}

TEST_CASE("chaos: the deck gives up where no card can be played") {
    game g(1);
    CHECK_FALSE(g.cards.deal([](std::size_t) { return false; }));
    CHECK_FALSE(g.cards.first_round_is_over());
}

}  // namespace corozk::testing::chaos_deck_test
