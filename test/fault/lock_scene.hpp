// SPDX-License-Identifier: Apache-2.0
// One state of a lock, one fault: the stage for it.
#pragma once

#include "pending_result.hpp"
#include <corozk/recipe/lock.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

namespace corozk::testing {

/// A stranger's, as good as any.
inline const std::string some_guid = "0123456789abcdef0123456789abcdef";

/// Another session gets the lock.
inline boost::asio::awaitable<void> lock_probe(client& c, std::string folder) {
    lock l(c, folder);
    ownership o = co_await l.acquire_for(std::chrono::seconds(15));
    CHECK(o.valid());
    co_await o.release();
}

/// A client through a proxy, a healthy one, and a folder.
struct scene {
    explicit scene(std::uint16_t server_port) : proxy(server_port), observer(server_port) {}

    boost::asio::io_context context;
    fault_proxy proxy;
    admin observer;
    std::string folder = fresh_path() + "/folder";
    client zk;
    client healthy;

    void expire() {
        session_record victim = proxy.session();
        CHECK(expire_session(shared_server().port(), victim.session_id, victim.password));
        proxy.cut();
    }

    /// Our nodes and others', in the order of their creation.
    std::string plant(const std::string& stem = some_guid + "-lock-") {
        return observer.plant(folder + "/" + stem, {}, node_kind::ephemeral_sequential);
    }
};

template <class Body>
void play(Body body,
          server& s = shared_server(),
          std::chrono::milliseconds session = steady_session) {
    scene stage(s.port());
    std::string failure;
    try {
        run(
            stage.context,
            [&]() -> boost::asio::awaitable<void> {
                stage.zk = co_await connect_to(stage.proxy.hosts(), session);
                stage.healthy = co_await connect_to(s.hosts(), steady_session);
                stage.proxy.reset_numbering();
                co_await body(stage);
                stage.proxy.disarm_all();
                if (&s == &shared_server()) {
                    co_await nothing_left(stage.folder);
                    co_await lock_probe(stage.healthy, stage.folder);
                    co_await nothing_left(stage.folder);
                }
                co_await stage.zk.close(as_tuple());
                co_await stage.healthy.close(as_tuple());
            },
            std::chrono::seconds(60));
        run_to_idle(stage.context);
    } catch (const std::exception& e) {
        failure = std::string(e.what()) + "\n" + stage.proxy.describe_log();
    }
    CAPTURE(failure);
    CHECK(failure.empty());
}

inline auto at_create(std::uint64_t k = 1) {
    return at_frame([](const frame_info& f) { return is_create(f.op); }, k);
}

}  // namespace corozk::testing
