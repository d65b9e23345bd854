// SPDX-License-Identifier: Apache-2.0
// What the faults do, at a request or in a state.
#include "performance.hpp"
#include <corozk/testing/four_letter.hpp>
#include <corozk/testing/raw_session.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace corozk::matrix {

using namespace std::chrono_literals;
using testing::eventually_async;
using testing::fault_proxy;
using testing::frame_info;

namespace {

/// Nodes of others: near misses of the names of ours, and no names at all.
const std::vector<std::string> foreign_names{"somebody",
                                             "lock-",
                                             "-lock-0000000001",
                                             "x-lock-00000000x1",
                                             "x-lock--2147483649",
                                             "x-lease-",
                                             "x-n_",
                                             "x-member-one",
                                             "queue-abc",
                                             "entry-1-",
                                             "ready-",
                                             "\xc3\xa4-write-1"};

/// The whole process does, its clocks do not.
void stand_still(std::chrono::milliseconds length) {
    testing::aside not_the_loops;
    std::this_thread::sleep_for(length);
}

}  // namespace

/// Also on the proxy's thread.
void performance::expire() {
    testing::session_record victim = proxy_.session();
    stage_->owners.ended_session = victim.session_id;
    testing::expire_session(port_, victim.session_id, victim.password);
    proxy_.cut();
}

/// Not on the proxy's thread, where it is called.
testing::action::callback performance::interruption() {
    return [this](const frame_info&) {
        boost::asio::post(context_, [this] {
            if (stage_)
                stage_->interrupt();
        });
    };
}

/// What befalls an answer, or an event.
std::optional<testing::action> performance::at_reply() {
    switch (which_) {
        case fault::answer_lost: return testing::swallow_reply_and_cut();
        case fault::cut_after_answer: return testing::cut_after_reply();
        case fault::answer_delayed: return testing::delay_reply(50ms);
        case fault::expired: return testing::call_at_reply([this](const frame_info&) { expire(); });
        default:
            if (interrupts(which_))
                return testing::call_at_reply(interruption());
            return std::nullopt;
    }
}

/// What befalls a request; or its answer, if that is what the fault is about.
std::optional<testing::action> performance::at_request() {
    switch (which_) {
        case fault::request_lost: return testing::drop_request_and_cut();
        case fault::short_hole: return testing::black_hole_from_here(50ms);
        case fault::noticed_hole: return testing::black_hole_from_here(noticed);
        case fault::long_hole: return testing::black_hole_from_here(beyond_session);
        case fault::deadline_hole: return testing::black_hole_from_here(beyond_deadline);
        case fault::expired:
            return testing::call_at_request([this](const frame_info&) { expire(); });
        default:
            if (interrupts(which_) && where_.what == place::kind::request)
                return testing::call_at_request(interruption());
            return at_reply();
    }
}

void performance::arm() {
    proxy_.reset_numbering();
    if (which_ == fault::slow_answers)
        proxy_.set_delay(testing::direction::to_client, slow_answer);
    testing::turn_clock& clock = *testing::turn_clock::current();
    turns_before_ = clock.turns();
    if (where_.what == place::kind::turn)
        clock.interrupt_after(where_.number, [this] { stage_->interrupt(); });
    if (where_.what == place::kind::whole || where_.what == place::kind::turn || in_a_state())
        return;
    bool event = where_.what == place::kind::notification;
    std::optional<testing::action> what = event ? at_reply() : at_request();
    if (!what)
        return;
    rule_ = proxy_.arm(
        event ? testing::at_notification(where_.number) : testing::at_request(where_.number),
        std::move(*what));
}

/// A fault in a state.
awaitable<void> performance::apply(stage& s) {
    boost::asio::steady_timer timer(context_);
    bool rival = what_.probe_takes_turns;
    switch (which_) {
        case fault::expired:
            if (rival)
                start_beside(s.theirs(), false);
            expire();
            break;
        case fault::short_hole:
        case fault::noticed_hole:
        case fault::long_hole:
        case fault::deadline_hole:
            if (rival && ends_session(which_))
                start_beside(s.theirs(), false);
            proxy_.black_hole(true);
            timer.expires_after(which_ == fault::long_hole       ? beyond_session
                                : which_ == fault::noticed_hole  ? noticed
                                : which_ == fault::deadline_hole ? beyond_deadline
                                                                 : 50ms);
            co_await timer.async_wait(boost::asio::use_awaitable);
            s.owners.compare();
            proxy_.black_hole(false);
            break;
        case fault::client_stopped:
            if (rival)
                start_beside(s.theirs(), false);
            stand_still(beyond_session);
            s.owners.compare();
            break;
        case fault::server_restarted:
            if (!party_)
                throw std::logic_error("no party for a restart");
            arrived_ = true;
            if (!party_->arrive())
                s.set_void();
            co_await eventually_async([&] { return party_->killed(); }, 90s, "the kill");
            break;
        case fault::own_node_deleted:
        case fault::oldest_node_deleted:
        case fault::newest_node_deleted: delete_own_nodes(); break;
        case fault::parent_deleted:
            s.owners.erased_by_others();
            // Somebody may make nodes meanwhile.
            co_await eventually_async([&] {
                s.observer().erase_recursively(s.server_folder());
                return true;
            });
            break;
        case fault::foreign_children: plant_foreign(); break;
        case fault::second_object: start_beside(s.ours(), true); break;
        default: s.interrupt(); break;
    }
}

void performance::delete_own_nodes() {
    std::int64_t ours = stage_->ours().status().session_id;
    std::map<std::int64_t, std::string> by_age;
    for (const auto& [path, session] : testing::ephemerals(port_)) {
        if (session != ours || !in_folder(path))
            continue;
        if (auto record = stage_->observer().stat(path))
            by_age.emplace(record->czxid, path);
    }
    // One of one is what "own node deleted" is there for.
    if (which_ != fault::own_node_deleted && by_age.size() == 1)
        by_age.clear();
    if (which_ == fault::oldest_node_deleted && !by_age.empty())
        by_age.erase(std::next(by_age.begin()), by_age.end());
    if (which_ == fault::newest_node_deleted && !by_age.empty())
        by_age.erase(by_age.begin(), std::prev(by_age.end()));
    bool any = false;
    for (const auto& [czxid, path] : by_age)
        any = stage_->observer().erase(path) || any;
    if (!any)
        stage_->set_void();
    stage_->owners.erased_by_others(ours);
}

void performance::plant_foreign() {
    for (const std::string& name : foreign_names) {
        std::string path = stage_->server_folder() + what_.foreign_in + "/" + name;
        stage_->observer().plant(path, "not yours");
        stage_->planted.push_back(path);
    }
}

awaitable<void> performance::beside(client& c, bool companion) {
    try {
        if (companion && what_.companion) {
            co_await what_.companion(c, *stage_);
        } else {
            co_await what_.probe(c, *stage_);
        }
    } catch (const scenario_over&) {
    } catch (const std::exception& e) {
        beside_failed_ = e.what();
    }
    beside_runs_ = false;
}

void performance::start_beside(client& c, bool companion) {
    beside_runs_ = true;
    boost::asio::co_spawn(context_, beside(c, companion), [](std::exception_ptr) {});
}

}  // namespace corozk::matrix
