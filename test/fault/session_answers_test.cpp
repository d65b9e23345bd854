// SPDX-License-Identifier: Apache-2.0
// Lists that cannot be read to their end: an error, and no memory for what was only announced.
#include "client_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <sys/resource.h>

using namespace corozk;
using namespace corozk::testing;
using wire = corozk::testing::op_code;

namespace {

/// Of an answer: its length, the header (xid, zxid, error), and then what it holds.
constexpr std::size_t body_at = 4 + 16;

/// The list that an answer begins with announces as many entries as this. They do not come.
void announce(std::string& frame, std::uint32_t count) {
    if (frame.size() < body_at + 4)
        return;
    for (std::size_t i = 0; i < 4; ++i)
        frame[body_at + i] = static_cast<char>(count >> (24 - 8 * i));
}

/// In front of the client, until it is taken away.
class exaggeration {
public:
    exaggeration(fault_proxy& proxy, wire of, std::uint32_t count) : proxy_(proxy) {
        proxy_.edit(direction::to_client, [of, count](const frame_info& frame, std::string bytes) {
            if (frame.op == of && frame.kind == frame_kind::reply)
                announce(bytes, count);
            return bytes;
        });
    }
    ~exaggeration() { proxy_.edit(direction::to_client, nullptr); }
    exaggeration(const exaggeration&) = delete;
    exaggeration& operator=(const exaggeration&) = delete;

private:
    fault_proxy& proxy_;
};

/// KiB
long most_memory_so_far() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("children that were announced and do not come: an error, and the client goes on") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        co_await zk.create(path + "/b");
        // An entry takes 8 bytes in the C client: 400 MiB at last.
        for (std::uint32_t count : {1'000u, 1'000'000u, 50'000'000u}) {
            INFO("announced: " << count);
            long before = most_memory_so_far();
            {
                exaggeration lie(proxy, wire::get_children2, count);
                auto [ec, listed] = co_await zk.children(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(listed.names.empty());
            }
            CHECK(most_memory_so_far() - before < 100 * 1024);
            auto [ec, listed] = co_await zk.children(path, as_tuple());
            CHECK_FALSE(ec);
            CHECK(listed.names.size() == 2);
        }
    };
    with_proxy(body);
}

TEST_CASE("an access control list that was announced and does not come: an error") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        for (std::uint32_t count : {1'000u, 1'000'000u}) {
            INFO("announced: " << count);
            {
                exaggeration lie(proxy, wire::get_acl, count);
                auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(rights.entries.empty());
            }
            auto [ec, rights] = co_await zk.get_acl(path, as_tuple());
            CHECK_FALSE(ec);
            CHECK(rights.entries.size() == 1);
        }
    };
    with_proxy(body);
}
