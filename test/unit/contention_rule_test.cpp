// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_rule.hpp"

#include "recipe/contention/contention_settings.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace corozk::testing::contention_rule_test {

using namespace corozk::detail;

namespace {

class list_ahead final : public ahead_of {
public:
    explicit list_ahead(std::vector<contention_entry> nearest_first)
        : entries_(std::move(nearest_first)) {}
    const contention_entry* next() override {
        return at_ < entries_.size() ? &entries_[at_++] : nullptr;
    }
    std::size_t taken() const { return at_; }

private:
    std::vector<contention_entry> entries_;
    std::size_t at_ = 0;
};

contention_entry entry(std::int64_t order) {
    contention_entry e;
    e.order = order;
    return e;
}

}  // namespace

TEST_CASE("lock: the first is not blocked") {
    list_ahead nobody({});
    std::vector<const contention_entry*> blockers;
    the_exclusive_rule.blockers(nobody, entry(5), blockers);
    CHECK(blockers.empty());
}

TEST_CASE("lock: everybody waits for the nearest one ahead only") {
    for (std::size_t ahead = 1; ahead < 6; ++ahead) {
        std::vector<contention_entry> entries;
        for (std::size_t i = 0; i < ahead; ++i)
            entries.push_back(entry(-static_cast<int>(i)));
        list_ahead list(entries);
        std::vector<const contention_entry*> blockers;
        the_exclusive_rule.blockers(list, entry(1), blockers);
        REQUIRE(blockers.size() == 1);
        CHECK(blockers.front()->order == 0);
        CHECK(list.taken() == 1);  // no walk through thousands
    }
}

TEST_CASE("lock: nobody goes together with the holder") {
    CHECK_FALSE(the_exclusive_rule.follows(entry(1), entry(2)));
}

TEST_CASE("settings: no parent is a container for Kazoo, which does not expect it to be deleted") {
    contender_options options;
    auto parents = [&options] {
        return settings_in_format(known_recipe::lock, the_exclusive_rule, "/parent", options)
            .parent_mode;
    };
    CHECK(parents() == create_mode::container);
    options.compatibility = compatibility::kazoo;
    CHECK(parents() == create_mode::persistent);
}

TEST_CASE(
    "settings: the text of a release request is that of the format, unless another is given") {
    contender_options options;
    auto text = [&options](known_recipe what) {
        return settings_in_format(what, the_exclusive_rule, "/parent", options).release_request;
    };
    for (auto whose : {compatibility::native, compatibility::kazoo}) {
        options.compatibility = whose;
        for (auto what : {known_recipe::lock, known_recipe::election, known_recipe::semaphore})
            CHECK(text(what) == "unlock");
    }
    options.compatibility = compatibility::curator;
    CHECK(text(known_recipe::lock) == "__REVOKE__");
    CHECK(text(known_recipe::shared_lock) == "__REVOKE__");
    CHECK(text(known_recipe::election).empty());
    CHECK(text(known_recipe::semaphore).empty());
    options.release_request = "please";
    CHECK(text(known_recipe::lock) == "please");
    CHECK(text(known_recipe::election) == "please");
}

}  // namespace corozk::testing::contention_rule_test
