// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include "session/task.hpp"
#include "stage.hpp"
#include <corozk/error.hpp>
#include <corozk/testing/four_letter.hpp>
#include <corozk/testing/raw_session.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace corozk::matrix {

using namespace std::chrono_literals;
using testing::admin;
using testing::eventually_async;
using testing::fault_proxy;
using testing::frame_info;
using testing::node_kind;

namespace {

constexpr auto steady_session = 30'000ms;
constexpr auto brief_session = 400ms;  // the server's least
constexpr auto beyond_session = 900ms;
// Two thirds of it without a word from the server, and a client tries another connection.
constexpr auto noticing_session = 1'200ms;
constexpr auto noticed = 950ms;
constexpr const char* credential = "matrix:secret";
constexpr const char* others_credential = "stranger:secret";

/// Nodes of others: near misses of the names of ours, and no names at all.
const std::vector<std::string> foreign_names{"somebody",
                                             "lock-",
                                             "-lock-0000000001",
                                             "x-lock-00000000x1",
                                             "ready-",
                                             "\xc3\xa4-write-1"};

/// The parent of all cases' folders. The server keeps counters for each node below the root: its `mntr`
/// would become longer, and what reads it slower, with each case.
constexpr const char* all_cases = "/matrix";

std::string fresh_folder() {
    static std::atomic<int> number{0};
    return std::string(all_cases) + "/case-" + std::to_string(++number);
}

client_options options_for(std::string hosts, std::chrono::milliseconds session) {
    client_options options(std::move(hosts));
    options.session_timeout = session;
    options.connect_timeout = 60s;
    options.logger.level = log_level::off;
    return options;
}

/// Coroutines of the library's drivers; not counted in a release build.
long frames() {
#ifndef NDEBUG
    return detail::live_frames;
#else
    return 0;
#endif
}

/// Everything for its creator, and for everybody else what is not withheld.
acl all_but(fault which) {
    const std::pair<fault, permission> rights[] = {{fault::may_not_read, permission::read},
                                                   {fault::may_not_write, permission::write},
                                                   {fault::may_not_create, permission::create},
                                                   {fault::may_not_delete, permission::erase}};
    permission left = permission::admin;
    for (const auto& [withheld, right] : rights)
        left = withheld == which ? left : left | right;
    acl entries = creator_acl();
    entries.emplace_back(left, "world", "anyone");
    return entries;
}

void expire(fault_proxy& proxy, std::uint16_t port) {
    testing::session_record victim = proxy.session();
    testing::expire_session(port, victim.session_id, victim.password);
    proxy.cut();
}

/// One case, from the first connection to the last.
class performance {
public:
    performance(const scenario& what,
                fault which,
                const place& where,
                std::uint16_t port,
                restart_party* party)
        : what_(what), which_(which), where_(where), port_(port), party_(party), proxy_(port) {}

    outcome operator()();

private:
    bool brief() const {
        return which_ == fault::noticed_hole || which_ == fault::long_hole ||
               which_ == fault::client_stopped;
    }
    bool with_acl() const {
        return which_ == fault::restricted_acl || which_ == fault::forbidding_acl;
    }
    bool in_a_state() const { return where_.what == place::kind::state; }

    awaitable<void> prepare();
    awaitable<void> act();
    awaitable<void> play_and_end();
    void arm();
    awaitable<void> apply(stage& s);
    awaitable<void> wait_until_quiet();
    awaitable<void> wait_until_nothing_is_left();
    awaitable<void> wait_until_nothing_is_watched();
    awaitable<void> beside(client& c, bool companion);
    void start_beside(client& c, bool companion);
    void delete_own_nodes();
    void plant_foreign();
    void take_foreign_back();
    std::string what_is_left();
    bool in_folder(const std::string& path) const {
        return path == stage_->server_folder() || path.starts_with(stage_->server_folder() + "/");
    }

    const scenario& what_;
    fault which_;
    const place& where_;
    std::uint16_t port_;
    restart_party* party_;
    boost::asio::io_context context_;
    fault_proxy proxy_;
    std::unique_ptr<stage> stage_;
    std::weak_ptr<detail::session> session_;
    std::optional<testing::rule_id> rule_;
    bool beside_runs_ = false;
    std::string beside_failed_;
    bool arrived_ = false;
    outcome result_;
};

awaitable<void> performance::prepare() {
    stage::setting set;
    set.what = &what_;
    set.which = which_;
    set.at_state = where_.state;
    set.server_port = port_;
    std::string base = fresh_folder();
    if (which_ == fault::chroot) {
        set.root = base;
        base = "/inside";
        admin(port_).plant(set.root);
    }
    set.folder = base + "/folder";
    if (with_acl())
        set.entries = creator_acl();
    set.apply = [this](stage& s) { return apply(s); };

    auto session = which_ == fault::noticed_hole ? noticing_session
                   : brief()                     ? brief_session
                                                 : steady_session;
    client_options ours_options = options_for(proxy_.hosts() + set.root, session);
    std::string direct = "127.0.0.1:" + std::to_string(port_) + set.root;
    client_options theirs_options = options_for(direct, steady_session);
    client ours = co_await client::connect(context_.get_executor(), ours_options);
    client theirs = co_await client::connect(context_.get_executor(), theirs_options);
    if (with_acl()) {
        auto of_ours = which_ == fault::restricted_acl ? credential : others_credential;
        co_await ours.add_auth("digest", of_ours);
        co_await theirs.add_auth("digest", credential);
    }
    if (which_ == fault::forbidding_acl) {
        create_options for_them_only;
        for_them_only.acl = &set.entries;
        co_await theirs.ensure_path(set.folder, for_them_only);
    }
    if (withholds(which_)) {
        co_await theirs.add_auth("digest", credential);
        acl entries = all_but(which_);
        create_options how;
        how.acl = &entries;
        co_await theirs.ensure_path(set.folder, how);
    }
    session_ = ours.implementation();
    stage_ = std::make_unique<stage>(
        context_, proxy_, std::move(set), std::move(ours), std::move(theirs));
    stage_->owners.expired_by_force = which_ == fault::expired;
    if (with_acl() || withholds(which_))
        stage_->observer().session().add_auth("digest", credential);
}

void performance::arm() {
    proxy_.reset_numbering();
    if (where_.what != place::kind::request && where_.what != place::kind::answer)
        return;
    auto here = testing::at_request(where_.number);
    auto set = [&](testing::action a) { rule_ = proxy_.arm(std::move(here), std::move(a)); };
    auto interrupt = [this](const frame_info&) {
        boost::asio::post(context_, [this] {
            if (stage_)
                stage_->interrupt();
        });
    };
    switch (which_) {
        case fault::request_lost:
            set(testing::drop_request_and_cut());
            break;
        case fault::answer_lost:
            set(testing::swallow_reply_and_cut());
            break;
        case fault::cut_after_answer:
            set(testing::cut_after_reply());
            break;
        case fault::answer_delayed:
            set(testing::delay_reply(50ms));
            break;
        case fault::short_hole:
            set(testing::black_hole_from_here(50ms));
            break;
        case fault::noticed_hole:
            set(testing::black_hole_from_here(noticed));
            break;
        case fault::long_hole:
            set(testing::black_hole_from_here(beyond_session));
            break;
        case fault::expired:
            set(testing::call_at_request([this](const frame_info&) { expire(proxy_, port_); }));
            break;
        default:
            if (!interrupts(which_))
                break;
            if (where_.what == place::kind::answer) {
                set(testing::call_at_reply(interrupt));
            } else {
                set(testing::call_at_request(interrupt));
            }
    }
}

/// A fault in a state.
awaitable<void> performance::apply(stage& s) {
    boost::asio::steady_timer timer(context_);
    bool rival = what_.probe_takes_turns;
    switch (which_) {
        case fault::expired:
            if (rival)
                start_beside(s.theirs(), false);
            expire(proxy_, port_);
            break;
        case fault::short_hole:
        case fault::noticed_hole:
        case fault::long_hole:
            if (rival && which_ != fault::short_hole)
                start_beside(s.theirs(), false);
            proxy_.black_hole(true);
            timer.expires_after(which_ == fault::long_hole      ? beyond_session
                                : which_ == fault::noticed_hole ? noticed
                                                                : 50ms);
            co_await timer.async_wait(boost::asio::use_awaitable);
            s.owners.compare();
            proxy_.black_hole(false);
            break;
        case fault::client_stopped:
            if (rival)
                start_beside(s.theirs(), false);
            // The whole process stands still, its clocks do not.
            std::this_thread::sleep_for(beyond_session);
            s.owners.compare();
            break;
        case fault::server_restarted:
            if (!party_)
                throw std::logic_error("no party for a restart");
            arrived_ = true;
            party_->arrive();
            co_await eventually_async([&] { return party_->killed(); }, 90s, "the kill");
            break;
        case fault::own_node_deleted:
            delete_own_nodes();
            break;
        case fault::parent_deleted:
            // Somebody may make nodes meanwhile.
            co_await eventually_async([&] {
                s.observer().erase_recursively(s.server_folder());
                return true;
            });
            break;
        case fault::foreign_children:
            plant_foreign();
            break;
        case fault::second_object:
            start_beside(s.ours(), true);
            break;
        default:
            s.interrupt();
            break;
    }
}

void performance::delete_own_nodes() {
    std::int64_t ours = stage_->ours().status().session_id;
    bool any = false;
    for (const auto& [path, session] : testing::ephemerals(port_)) {
        if (session == ours && in_folder(path))
            any = stage_->observer().erase(path) || any;
    }
    if (!any)
        stage_->set_void();
}

void performance::plant_foreign() {
    for (const std::string& name : foreign_names) {
        std::string path = stage_->server_folder() + what_.foreign_in + "/" + name;
        stage_->observer().plant(path, "not yours");
        stage_->planted.push_back(path);
    }
}

/// They were not ours to touch.
void performance::take_foreign_back() {
    for (const std::string& path : stage_->planted) {
        bool there = stage_->observer().erase(path);
        stage_->check(there, "a foreign node is still there: " + path);
    }
    stage_->planted.clear();
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

awaitable<void> performance::wait_until_nothing_is_left() {
    std::string folder = stage_->server_folder();
    co_await eventually_async(
        [&] {
            if (!what_.leaves_data && which_ != fault::may_not_delete)
                return stage_->observer().children(folder).empty();
            for (const auto& [path, session] : testing::ephemerals(port_)) {
                if (in_folder(path))
                    return false;
            }
            return true;
        },
        stage_->patience(),
        "no node is left");
    co_await eventually_async([&] { return testing::watches_below(port_, folder) == 0; },
                              stage_->patience(),
                              "no watch is left");
}

/// Of all kinds: the list of watches by path has none on children. Costs the server a lot.
awaitable<void> performance::wait_until_nothing_is_watched() {
    if (party_)
        co_return;  // the others of the party have theirs
    co_await eventually_async([&] { return testing::watch_count(port_) == 0; },
                              stage_->patience(),
                              "the server's count of watches is back");
}

/// For a failure's text.
std::string performance::what_is_left() {
    std::string text = "left:";
    try {
        for (const std::string& path : stage_->observer().tree(stage_->server_folder()))
            text += " node " + path;
        for (const auto& [path, sessions] : testing::watches_by_path(port_)) {
            if (!in_folder(path))
                continue;
            text += " watch " + path + " of";
            for (std::int64_t session : sessions) {
                char number[24];
                std::snprintf(
                    number, sizeof number, " %#llx", static_cast<unsigned long long>(session));
                text += number;
            }
        }
    } catch (const std::exception& e) {
        text += std::string(" unknown, ") + e.what();
    }
    return text;
}

awaitable<void> performance::wait_until_quiet() {
    // Of the fault itself nothing stays.
    proxy_.disarm_all();
    proxy_.black_hole(false);
    proxy_.set_acceptance(testing::acceptance::normal);
    co_await eventually_async(
        [&] { return stage_->all_ended(); }, stage_->patience(), "every call's end");
    co_await stage_->settle();
    co_await eventually_async(
        [&] { return !beside_runs_; }, stage_->patience(), "the other one's turn");
    if (!beside_failed_.empty())
        stage_->check(false, "the one beside failed: " + beside_failed_);
    take_foreign_back();
    co_await wait_until_nothing_is_left();
    co_await wait_until_nothing_is_watched();
}

awaitable<void> performance::play_and_end() {
    bool over = false;
    try {
        co_await what_.play(*stage_);
    } catch (const scenario_over&) {
        over = true;
    } catch (const error& e) {
        if (!stage_->permits(e.code(), party::theirs))
            throw;
        over = true;
    }
    result_.requests = proxy_.requests();
    if (rule_)
        result_.hit = proxy_.fired(*rule_) > 0;
    if (in_a_state())
        result_.hit = stage_->applied();
    if (which_ == fault::none || where_.what == place::kind::whole)
        result_.hit = true;
    if (stage_->forbidden() && !what_.needs_no_permission)
        stage_->check(stage_->refused(), "something was refused");
    // A brief session may end by itself where the machine is busy.
    if (over && !result_.hit && !brief())
        stage_->check(false, "ended before the fault");
}

awaitable<void> performance::act() {
    co_await prepare();
    arm();
    co_await play_and_end();
    if (party_ && !arrived_) {
        arrived_ = true;
        party_->arrive();
    }
    if (which_ == fault::may_not_delete)
        co_await stage_->close_ours();
    co_await wait_until_quiet();
    if (what_.invariant)
        co_await what_.invariant(*stage_);
    co_await what_.probe(stage_->theirs(), *stage_);
    co_await wait_until_nothing_is_left();
    client ours = stage_->release_ours();
    client theirs = stage_->release_theirs();
    co_await ours.close(as_tuple());
    co_await theirs.close(as_tuple());
}

outcome performance::operator()() {
    std::string failure;
    testing::turn_clock clock;
    long frames_before = frames();
    try {
        testing::run(
            context_, [this] { return act(); }, 150s);
        testing::run_to_idle(context_, 10s);
        stage_->check(session_.expired(), "the session is gone, and all coroutines with it");
        long left = frames() - frames_before;
        stage_->check(left == 0, "coroutine frames are left: " + std::to_string(left));
    } catch (const std::exception& e) {
        failure = e.what();
    } catch (const scenario_over&) {
        failure = "ended outside of the scenario";
    }
    if (party_ && !arrived_)
        party_->arrive();
    result_.longest_turn = clock.longest();
    if (stage_) {
        if (failure.empty())
            stage_->check_calls();
        result_.states = stage_->states();
        result_.failures = stage_->failures();
    }
    if (!failure.empty())
        result_.failures.push_back(failure);
    if (!result_.failures.empty()) {
        if (stage_ && !failure.empty())
            result_.failures.push_back(what_is_left());
        result_.failures.push_back(proxy_.describe_log(60));
    }
    return result_;
}

}  // namespace

std::string place::text() const {
    switch (what) {
        case kind::whole:
            return "all";
        case kind::request:
            return std::to_string(number);
        case kind::answer:
            return std::to_string(number) + "a";
        case kind::state:
            return state;
    }
    return std::string();
}

place place::parse(const std::string& text) {
    if (text == "all")
        return place();
    if (text.empty() || text[0] < '0' || text[0] > '9')
        return place(text);
    bool answer = text.back() == 'a';
    return place(answer ? kind::answer : kind::request, std::stoull(text));
}

void prepare_server(std::uint16_t port) {
    admin(port).plant(all_cases);
}

outcome run_case(const scenario& what,
                 fault which,
                 const place& where,
                 std::uint16_t server_port,
                 restart_party* party) {
    performance p(what, which, where, server_port, party);
    return p();
}

}  // namespace corozk::matrix
