// SPDX-License-Identifier: Apache-2.0
// Runs a scenario once to count its requests, and then once for every request and every kind of
// fault there; or once for every turn of the loop, with an interruption after it. After each run:
// no node and no watch is left, nobody but one ever owned, and the next one proceeds.
//
// A scenario is `awaitable<void> f(fault_stage&)`; a probe is `awaitable<void> f(client&, folder)`,
// run from a session that saw no fault.
#pragma once

#include "owner_registry.hpp"
#include "pending_result.hpp"
#include <corozk/ownership.hpp>
#include <corozk/testing/ensemble.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <initializer_list>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing {

enum class frame_fault : std::uint8_t {
    none,
    request_dropped,   ///< and the connection cut
    answer_swallowed,  ///< carried out, and the connection cut
    cut_after_answer,
    answer_delayed,
    short_hole,    ///< too short for anybody to notice
    noticed_hole,  ///< the client gives the connection up; the session may live
    long_hole,     ///< the session does not live
    expired,       ///< by somebody with its id and password, and the connection cut
};

inline std::string_view to_string(frame_fault f) {
    switch (f) {
        case frame_fault::none:
            return "no fault";
        case frame_fault::request_dropped:
            return "request dropped";
        case frame_fault::answer_swallowed:
            return "answer swallowed";
        case frame_fault::cut_after_answer:
            return "cut after the answer";
        case frame_fault::answer_delayed:
            return "answer delayed";
        case frame_fault::short_hole:
            return "short hole";
        case frame_fault::noticed_hole:
            return "hole until suspended";
        case frame_fault::long_hole:
            return "hole beyond the session's end";
        case frame_fault::expired:
            return "session expired";
    }
    return "";
}

/// Whether the session lives through it for certain.
inline bool session_survives(frame_fault f) {
    return f != frame_fault::noticed_hole && f != frame_fault::long_hole &&
           f != frame_fault::expired;
}

/// For owner_registry.
inline void check_with_catch(bool holds, std::string_view what) {
    INFO(what);
    CHECK(holds);
}

/// What a scenario gets.
struct fault_stage {
    fault_stage(boost::asio::io_context& c, fault_proxy& p, client& z, client& h, std::string f)
        : context(c),
          proxy(p),
          zk(z),
          healthy(h),
          folder(std::move(f)),
          owners(shared_server().port(), folder, check_with_catch) {}

    boost::asio::io_context& context;
    fault_proxy& proxy;
    client& zk;       ///< through the proxy
    client& healthy;  ///< not through the proxy
    std::string folder;
    owner_registry owners;
    bool survives = true;  ///< the session does, for certain: then nothing may fail
};

inline client_options engine_options(std::string hosts, std::chrono::milliseconds timeout) {
    client_options options(std::move(hosts));
    options.session_timeout = timeout;
    options.connect_timeout = std::chrono::seconds(20);
    options.logger.level = log_level::off;
    return options;
}

inline boost::asio::awaitable<client> engine_client(std::string hosts,
                                                    std::chrono::milliseconds timeout) {
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options = engine_options(std::move(hosts), timeout);
    client c = co_await client::connect(executor, options);
    co_return c;
}

constexpr std::chrono::milliseconds steady_session{30'000};

/// Nothing of anybody's is left below a folder. The sessions are still there.
inline boost::asio::awaitable<void> nothing_left(std::string folder) {
    admin observer(shared_server().port());
    co_await eventually_async([&] { return observer.children(folder).empty(); },
                              std::chrono::seconds(15),
                              "no node is left");
    co_await eventually_async(
        [&] { return watches_below(folder) == 0; }, std::chrono::seconds(15), "no watch is left");
}

namespace engine {

inline std::chrono::milliseconds timeout_for(frame_fault f) {
    switch (f) {
        case frame_fault::noticed_hole:
            return std::chrono::milliseconds(1'200);
        case frame_fault::long_hole:
            return std::chrono::milliseconds(400);
        default:
            return steady_session;
    }
}

inline void arm(fault_stage& stage, frame_fault fault, std::uint64_t k) {
    using namespace std::chrono_literals;
    fault_proxy& proxy = stage.proxy;
    switch (fault) {
        case frame_fault::none:
            break;
        case frame_fault::request_dropped:
            proxy.arm(at_request(k), drop_request_and_cut());
            break;
        case frame_fault::answer_swallowed:
            proxy.arm(at_request(k), swallow_reply_and_cut());
            break;
        case frame_fault::cut_after_answer:
            proxy.arm(at_request(k), cut_after_reply());
            break;
        case frame_fault::answer_delayed:
            proxy.arm(at_request(k), delay_reply(50ms));
            break;
        case frame_fault::short_hole:
            proxy.arm(at_request(k), black_hole_from_here(50ms));
            break;
        case frame_fault::noticed_hole:
            proxy.arm(at_request(k), black_hole_from_here(950ms));
            break;
        case frame_fault::long_hole:
            proxy.arm(at_request(k), black_hole_from_here(900ms));
            break;
        case frame_fault::expired:
            proxy.arm(at_request(k), call_at_request([&stage](const frame_info&) {
                          session_record victim = stage.proxy.session();
                          stage.owners.ended_session = victim.session_id;
                          expire_session(
                              shared_server().port(), victim.session_id, victim.password);
                          stage.proxy.cut();
                      }));
            break;
    }
}

/// Its rules refer to the stage, which goes before the proxy.
class disarmed_at_last {
public:
    explicit disarmed_at_last(fault_proxy& proxy) : proxy_(proxy) {}
    ~disarmed_at_last() { proxy_.disarm_all(); }
    disarmed_at_last(const disarmed_at_last&) = delete;
    disarmed_at_last& operator=(const disarmed_at_last&) = delete;

private:
    fault_proxy& proxy_;
};

struct outcome {
    std::uint64_t frames = 0;
    bool fired = false;
};

template <class Scenario, class Probe>
outcome attempt(Scenario& scenario, Probe& probe, frame_fault fault, std::uint64_t k) {
    INFO("fault: " << to_string(fault) << " at request " << k);
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    outcome result;
    std::string failure;
    try {
        run(
            context,
            [&]() -> boost::asio::awaitable<void> {
                client zk = co_await engine_client(proxy.hosts(), timeout_for(fault));
                client healthy = co_await engine_client(shared_server().hosts(), steady_session);
                fault_stage stage(context, proxy, zk, healthy, fresh_path() + "/folder");
                stage.survives = session_survives(fault);
                proxy.reset_numbering();
                disarmed_at_last no_longer(proxy);
                arm(stage, fault, k);
                co_await scenario(stage);
                result.frames = proxy.requests();
                for (const auto& [rule, times] : proxy.statistics().fired_by_rule) {
                    result.fired = result.fired || times > 0;
                }
                proxy.disarm_all();
                proxy.black_hole(false);
                co_await nothing_left(stage.folder);
                co_await probe(healthy, stage.folder);
                co_await nothing_left(stage.folder);
                co_await zk.close(as_tuple());
                co_await healthy.close(as_tuple());
            },
            std::chrono::seconds(60));
        run_to_idle(context);
    } catch (const std::exception& e) {
        failure = e.what();
        failure += "\n" + proxy.describe_log();
    }
    CAPTURE(failure);
    CHECK(failure.empty());
    return result;
}

}  // namespace engine

/// The scenario, with each of the faults at each of its requests.
template <class Scenario, class Probe>
void fault_at_every_frame(Scenario scenario,
                          Probe probe,
                          std::initializer_list<frame_fault> faults) {
    std::uint64_t frames = engine::attempt(scenario, probe, frame_fault::none, 0).frames;
    REQUIRE(frames > 0);
    for (frame_fault fault : faults) {
        // One more than there were: the fault itself may cause requests, and none is no harm.
        std::uint64_t hit = 0;
        for (std::uint64_t k = 1; k <= frames + 1; ++k) {
            if (engine::attempt(scenario, probe, fault, k).fired)
                ++hit;
        }
        // The number of requests may differ by those that depend on who comes first.
        INFO("fault: " << to_string(fault) << ", hit " << hit << " of " << frames);
        CHECK(hit > frames / 2);
    }
}

/// What is done to operations that are under way.
enum class interruption : std::uint8_t { cancel, destroy_object, close_client, destroy_client };

inline std::string_view to_string(interruption i) {
    switch (i) {
        case interruption::cancel:
            return "cancelled";
        case interruption::destroy_object:
            return "object destroyed";
        case interruption::close_client:
            return "client closed";
        case interruption::destroy_client:
            return "client destroyed";
    }
    return "";
}

/// An operation under way, in the hands of the engine.
class interruptible {
public:
    virtual ~interruptible() = default;
    virtual void cancel() = 0;
    virtual void destroy_object() = 0;
    virtual bool finished() const = 0;   ///< every handler was called
    virtual int most_calls() const = 0;  ///< of any handler
    virtual void turned() {}             ///< after each turn: a chance to let it go on
    virtual void unblock() {}            ///< the end of what it may be waiting for
};

/// `start(client&, folder, owners)` makes an interruptible. It is let run for k turns of the loop
/// (k = 0, 1, ... until it is finished by then) and interrupted.
template <class Start, class Probe>
void interrupt_at_every_turn(Start start, Probe probe, interruption what) {
    bool finished_before = false;
    int k = 0;
    for (; !finished_before; ++k) {
        INFO(to_string(what) << " after " << k << " turns");
        REQUIRE(k < 1'000);
        boost::asio::io_context context;
        std::string folder = fresh_path() + "/folder";
        auto zk = std::make_unique<client>(
            run(context, engine_client(shared_server().hosts(), steady_session)));
        owner_registry owners(shared_server().port(), folder, check_with_catch);
        std::unique_ptr<interruptible> work = start(*zk, folder, owners);
        context.restart();
        for (int i = 0; i < k && !work->finished(); ++i) {
            context.run_one();
            work->turned();
        }
        finished_before = work->finished();
        switch (what) {
            case interruption::cancel:
                work->cancel();
                break;
            case interruption::destroy_object:
                work->destroy_object();
                break;
            case interruption::close_client:
                zk->close(boost::asio::detached);
                break;
            case interruption::destroy_client:
                zk.reset();
                break;
        }
        run(context, [&]() -> boost::asio::awaitable<void> {
            bool goes_on = what == interruption::destroy_object;
            if (goes_on)
                work->unblock();
            co_await eventually_async([&] { return work->finished(); },
                                      std::chrono::seconds(15),
                                      "every handler is called");
            // Also while the others are still there.
            co_await eventually_async([&] { return watches_below(folder) == 0; },
                                      std::chrono::seconds(15),
                                      "no watch is left");
            if (!goes_on)
                work->unblock();
            co_await nothing_left(folder);
            client healthy = co_await engine_client(shared_server().hosts(), steady_session);
            co_await probe(healthy, folder);
            co_await nothing_left(folder);
            co_await healthy.close(as_tuple());
            if (zk)
                co_await zk->close(as_tuple());
        });
        run_to_idle(context);
        CHECK(work->most_calls() == 1);
    }
    CHECK(k > 5);
}

}  // namespace corozk::testing
