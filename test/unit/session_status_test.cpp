// SPDX-License-Identifier: Apache-2.0
#include <corozk/session_state.hpp>
#include <corozk/types.hpp>
#include <corozk/version.hpp>
#include <corozk/watch.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::session_status_test {

using namespace corozk;

TEST_CASE("session state: names") {
    CHECK(to_string(session_state::idle) == "idle");
    CHECK(to_string(session_state::connecting) == "connecting");
    CHECK(to_string(session_state::connected) == "connected");
    CHECK(to_string(session_state::read_only) == "read_only");
    CHECK(to_string(session_state::suspended) == "suspended");
    CHECK(to_string(session_state::lost) == "lost");
    CHECK(to_string(session_state::closed) == "closed");
}

TEST_CASE("watch: names of events, and an empty watch") {
    CHECK(to_string(watch_event_type::created) == "created");
    CHECK(to_string(watch_event_type::erased) == "erased");
    CHECK(to_string(watch_event_type::data_changed) == "data_changed");
    CHECK(to_string(watch_event_type::children_changed) == "children_changed");
    CHECK(to_string(watch_event_type::unknown) == "unknown");
    watch none;
    CHECK_FALSE(none.pending());
    CHECK(none.path().empty());
}

TEST_CASE("types: permissions and ready-made lists") {
    CHECK((permission::read | permission::write | permission::create | permission::erase |
           permission::admin) == permission::all);
    CHECK((permission::all & permission::erase) == permission::erase);
    CHECK((permission::read & permission::write) == permission::none);
    CHECK(open_acl() == acl{acl_entry(permission::all, "world", "anyone")});
    CHECK(read_only_acl() == acl{acl_entry(permission::read, "world", "anyone")});
    CHECK(creator_acl() == acl{acl_entry(permission::all, "auth", "")});
}

TEST_CASE("version: of the library and of the C client") {
    CHECK(version() == "0.1.0");
    CHECK_THAT(std::string(c_client_version()), Catch::StartsWith("3."));
}

}  // namespace corozk::testing::session_status_test
