// SPDX-License-Identifier: Apache-2.0
#include "performance.hpp"

#include "driver/task.hpp"
#include <corozk/error.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <atomic>
#include <chrono>
#include <utility>

namespace corozk::matrix {

using namespace std::chrono_literals;
using testing::admin;

namespace {

constexpr const char* credential = "matrix:secret";
constexpr const char* others_credential = "stranger:secret";

/// The parent of all cases' nodes. The server keeps counters for each node below the root: its
/// `mntr` would become longer, and reading it slower, with each case.
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

}  // namespace

/// What it permits, where the parent node exists already and is not ours.
std::optional<acl> performance::folder_acl() const {
    if (which_ == fault::forbidding_acl)
        return creator_acl();
    if (withholds(which_))
        return all_but(which_);
    return std::nullopt;
}

awaitable<void> performance::prepare() {
    stage::setting set;
    set.what = &what_;
    set.which = which_;
    set.at_state = where_.state;
    set.settled = where_.settled;
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
    if (front_) {
        ours_options.hosts = front_->hosts() + set.root;
        ours_options.tls = testing::tls_front::trusted();
    }
    std::string direct = "127.0.0.1:" + std::to_string(port_) + set.root;
    client_options theirs_options = options_for(direct, steady_session);
    client ours = co_await client::connect(context_.get_executor(), ours_options);
    client theirs = co_await client::connect(context_.get_executor(), theirs_options);
    if (with_acl()) {
        const char* ours_is = which_ == fault::restricted_acl ? credential : others_credential;
        co_await ours.add_auth("digest", ours_is);
    }
    co_await theirs.add_auth("digest", credential);
    if (auto allowed = folder_acl()) {
        create_options how;
        how.acl = &*allowed;
        co_await theirs.ensure_path(set.folder, how);
    }
    session_ = ours.implementation();
    stage_ = std::make_unique<stage>(context_, std::move(set), std::move(ours), std::move(theirs));
    stage_->observer().session().add_auth("digest", credential);
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
    result_.notifications = proxy_.statistics().notifications;
    testing::turn_clock& clock = *testing::turn_clock::current();
    result_.turns = clock.turns() - turns_before_;
    clock.interrupt_after(0, nullptr);  // not any more
    result_.grants = stage_->has_granted();
    result_.limited = stage_->has_limited();
    if (rule_)
        result_.hit = proxy_.fired(*rule_) > 0;
    if (in_a_state() || where_.what == place::kind::turn)
        result_.hit = stage_->applied();
    if (which_ == fault::none || where_.what == place::kind::whole)
        result_.hit = true;
    if (stage_->in_vain())
        result_.hit = false;
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
    auto began = std::chrono::steady_clock::now();
    co_await what_.probe(stage_->theirs(), *stage_);
    stage_->check(std::chrono::steady_clock::now() - began <= stage_->patience(),
                  "the next one gets on in time");
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
    // What its rules refer to goes before the proxy.
    proxy_.disarm_all();
    result_.longest_turn = clock.take_longest();
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

void prepare_server(std::uint16_t port) {
    admin(port).plant(all_cases);
}

outcome run_case(const scenario& what,
                 fault which,
                 const place& where,
                 std::uint16_t server_port,
                 bool tls,
                 restart_party* party) {
    performance p(what, which, where, server_port, tls, party);
    return p();
}

}  // namespace corozk::matrix
