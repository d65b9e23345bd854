// SPDX-License-Identifier: Apache-2.0
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

namespace corozk::testing::error_test {

using namespace corozk;

namespace {

const std::vector<zk_errc> all_of_zookeeper = {
    zk_errc::system_error,
    zk_errc::runtime_inconsistency,
    zk_errc::data_inconsistency,
    zk_errc::connection_loss,
    zk_errc::marshalling_error,
    zk_errc::unimplemented,
    zk_errc::operation_timeout,
    zk_errc::bad_arguments,
    zk_errc::invalid_state,
    zk_errc::new_config_no_quorum,
    zk_errc::reconfig_in_progress,
    zk_errc::tls_connection_error,
    zk_errc::api_error,
    zk_errc::no_node,
    zk_errc::no_auth,
    zk_errc::bad_version,
    zk_errc::no_children_for_ephemerals,
    zk_errc::node_exists,
    zk_errc::not_empty,
    zk_errc::session_expired,
    zk_errc::invalid_callback,
    zk_errc::invalid_acl,
    zk_errc::auth_failed,
    zk_errc::closing,
    zk_errc::session_moved,
    zk_errc::not_read_only,
    zk_errc::ephemeral_on_local_session,
    zk_errc::no_watcher,
    zk_errc::reconfig_disabled,
    zk_errc::session_closed_require_sasl_auth,
    zk_errc::quota_exceeded,
    zk_errc::throttled,
};

std::vector<errc> all_of_ours() {
    std::vector<errc> all;
    for (int i = 1; i <= static_cast<int>(errc::lease_expired); ++i)
        all.push_back(static_cast<errc>(i));
    return all;
}

}  // namespace

TEST_CASE("error: categories, and ZooKeeper's own numbers") {
    error_code zk = zk_errc::no_node;
    CHECK(zk.value() == -101);
    CHECK(zk.category() == zookeeper_category());
    CHECK(std::string(zk.category().name()) == "corozk.zookeeper");
    error_code ours = errc::closed;
    CHECK(ours.category() == corozk_category());
    CHECK(std::string(ours.category().name()) == "corozk");
    CHECK(zookeeper_category() != corozk_category());
    CHECK(zk == zk_errc::no_node);
    CHECK(zk != zk_errc::no_auth);
    CHECK(zk != ours);
    CHECK(zk.failed());
    // The standard library's counterpart compares equal as well.
    std::error_code standard = zk;
    CHECK(standard == std::error_code(error_code(zk_errc::no_node)));
    CHECK(standard.value() == -101);
}

TEST_CASE("error: each has a message of its own") {
    std::set<std::string> messages;
    for (zk_errc e : all_of_zookeeper) {
        std::string text = error_code(e).message();
        INFO(text);
        CHECK(text != "unknown ZooKeeper error");
        CHECK(messages.insert(text).second);
    }
    for (errc e : all_of_ours()) {
        std::string text = error_code(e).message();
        INFO(text);
        CHECK(text != "unknown error");
        CHECK(messages.insert(text).second);
    }
    CHECK(error_code(-9999, zookeeper_category()).message() == "unknown ZooKeeper error");
    CHECK(error_code(9999, corozk_category()).message() == "unknown error");
}

TEST_CASE("error: predicates") {
    const std::set<zk_errc> recoverable = {zk_errc::connection_loss,
                                           zk_errc::operation_timeout,
                                           zk_errc::session_moved,
                                           zk_errc::throttled};
    const std::set<zk_errc> lost = {zk_errc::session_expired,
                                    zk_errc::auth_failed,
                                    zk_errc::invalid_state,
                                    zk_errc::closing,
                                    zk_errc::session_closed_require_sasl_auth};
    const std::set<zk_errc> unknown = {zk_errc::connection_loss, zk_errc::operation_timeout};
    for (zk_errc e : all_of_zookeeper) {
        INFO(error_code(e).message());
        CHECK(is_recoverable(e) == recoverable.contains(e));
        CHECK(is_session_lost(e) == lost.contains(e));
        CHECK(is_outcome_unknown(e) == unknown.contains(e));
    }
    for (errc e : all_of_ours()) {
        INFO(error_code(e).message());
        CHECK_FALSE(is_recoverable(e));
        CHECK(is_session_lost(e) == (e == errc::closed));
        CHECK_FALSE(is_outcome_unknown(e));
    }
    for (error_code e : {error_code(), error_code(boost::asio::error::operation_aborted)}) {
        CHECK_FALSE(is_recoverable(e));
        CHECK_FALSE(is_session_lost(e));
        CHECK_FALSE(is_outcome_unknown(e));
    }
    // The same numbers in another category mean something else.
    CHECK_FALSE(is_recoverable(error_code(-4, boost::system::generic_category())));
}

TEST_CASE("error: the exception names the operation and the path") {
    error e(zk_errc::no_node, "create", "/a/b");
    CHECK(e.code() == zk_errc::no_node);
    CHECK(e.operation() == "create");
    CHECK(e.path() == "/a/b");
    CHECK_THAT(e.what(), Catch::StartsWith("create /a/b: no node"));
    error without(errc::closed, "commit", "");
    CHECK_THAT(without.what(), Catch::StartsWith("commit: the client was closed"));
    const boost::system::system_error& base = e;
    CHECK(base.code() == zk_errc::no_node);
}

TEST_CASE("error: what the server does not offer may be the TTL that was asked for") {
    for (const char* operation : {"create", "commit", "lock.commit", "persistent_node.keep"}) {
        error ttl(zk_errc::unimplemented, operation, "");
        CHECK_THAT(ttl.what(),
                   Catch::Contains("extendedTypesEnabled") &&
                       Catch::Contains("server_dialect::automatic"));
    }
    error other(zk_errc::unimplemented, "who_am_i", "");
    CHECK_THAT(other.what(), !Catch::Contains("TTL"));
}

TEST_CASE("error: the exception's text is one line, whatever the path is") {
    using namespace std::string_literals;
    const std::string path = "/a\0b\n\xff"s;
    error e(zk_errc::no_node, "get", path);
    CHECK_THAT(e.what(), Catch::StartsWith("get /a?b??: no node"));
    CHECK(e.path() == path);
    error good(zk_errc::no_node, "get", "/\xc3\xa4");
    CHECK_THAT(good.what(), Catch::StartsWith("get /\xc3\xa4: no node"));
}

TEST_CASE("error: a bad path is told what is wrong with it") {
    error relative(errc::bad_path, "create", "a");
    CHECK_THAT(relative.what(),
               Catch::StartsWith("create a (is relative: begin it with '/'): bad path"));
    error control(errc::bad_path, "create", "/a\x01");
    CHECK_THAT(control.what(),
               Catch::StartsWith("create /a? (contains a control character): bad path"));
    // Something else is wrong.
    error good(errc::bad_path, "membership.join", "/group");
    CHECK_THAT(good.what(), Catch::StartsWith("membership.join /group: bad path"));
    error other(zk_errc::no_node, "create", "a");
    CHECK_THAT(other.what(), Catch::StartsWith("create a: no node"));
    // Names are relative.
    error name(errc::bad_path, "service_discovery.resolve", "web");
    CHECK_THAT(name.what(), Catch::StartsWith("service_discovery.resolve web: bad path"));
    error bad_name(errc::bad_path, "name_service.resolve", "..");
    CHECK_THAT(bad_name.what(),
               Catch::StartsWith("name_service.resolve .. (has a relative component"));
}

}  // namespace corozk::testing::error_test
