// SPDX-License-Identifier: Apache-2.0
#include "session/request_size.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

namespace corozk::testing::request_size_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

struct bare_operation final : operation {
    using operation::operation;
    void finished() noexcept override {}
};

/// As jute writes them.
std::size_t written(std::string_view text) {
    return 4 + text.size();
}

}  // namespace

TEST_CASE("request size: never less than what is written, and little more") {
    constexpr std::size_t headers = 8 + 9;  // the request's, and that which ends a transaction
    constexpr std::size_t header_of_step = 9;
    bare_operation op(op_code::multi, std::string());
    transaction steps;
    std::size_t size = headers;
    for (int i = 0; i < 1'000; ++i) {
        std::string path = "/folder/node" + std::to_string(i);
        std::string data(static_cast<std::size_t>(i % 50), 'x');
        create_options owned;
        acl entries{acl_entry(permission::all, "digest", "me:secret")};
        owned.acl = &entries;
        create_options mortal;
        mortal.mode = create_mode::persistent_with_ttl;
        mortal.ttl = std::chrono::seconds(1);
        steps.create(path, data, owned).create(path, data).create(path, data, mortal);
        steps.set(path, data).check(path).erase(path);
        size += 6 * (header_of_step + written(path));
        size += 4 * written(data);
        size += 3 * (4 + 4);  // how many entries, and the mode
        size += 8;            // the TTL
        size += 4 + written("digest") + written("me:secret");
        size += 2 * (4 + written("world") + written("anyone"));
        size += 4 + 4;  // the versions of set and check
        size += 4;      // of erase
    }
    op.steps = steps.steps();
    CHECK(request_size(op) >= size);
    CHECK(request_size(op) <= size + 128 + 6 * 1'000 * 12);
}

TEST_CASE("request size: one operation") {
    bare_operation set(op_code::set, "/a");
    set.data.assign(1'000, 'x');
    CHECK(request_size(set) == 1'000 + 2 + 128);
    bare_operation list(op_code::set_acl, "/a");
    list.entries = {acl_entry(permission::read, "digest", std::string(500, 'x'))};
    CHECK(request_size(list) > 500 + 2 + 128);
    bare_operation join(op_code::reconfigure, "/zookeeper/config");
    join.arguments = {std::string(300, 'x'), std::string(), std::string(200, 'x')};
    CHECK(request_size(join) > 500);
}

}  // namespace corozk::testing::request_size_test
