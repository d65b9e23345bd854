// SPDX-License-Identifier: Apache-2.0
#include "meter.hpp"

#include <corozk/testing/error.hpp>
#include <corozk/testing/server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace corozk::testing {

namespace {

constexpr auto turn_limit = std::chrono::seconds(60);

// Longer than any delay with which a recipe puts something off, and far less than what it takes for a
// silent server.
constexpr auto a_while = std::chrono::milliseconds(100);

// Each session asks for this in its turn. The answer comes behind everything that was to be told before.
constexpr auto question = "/settled";

client_options options_of(const fault_proxy& proxy) {
    client_options options(proxy.hosts());
    options.session_timeout = server_options().max_session_timeout;  // no pings
    options.logger.level = log_level::off;
    return options;
}

}  // namespace

meter::session::session(boost::asio::io_context& context, meter& owner)
    : proxy(shared_server().port()), zk(context.get_executor(), options_of(proxy)) {
    proxy.edit(direction::to_server, [&owner](const frame_info& frame, std::string bytes) {
        owner.observe(frame);
        return bytes;
    });
    proxy.edit(direction::to_client, [this, &owner](const frame_info& frame, std::string bytes) {
        owner.observe(frame);
        unheard += bytes;
        return hears_at_once || frame.path == question ? std::exchange(unheard, std::string())
                                                       : std::string();
    });
}

bool meter::session::busy() const {
    client_counters now = zk.counters();
    return now.in_flight + now.queued > 0;
}

meter::meter(std::string group, std::size_t sessions)
    : group_(std::move(group)), path_("/" + group_) {
    for (std::size_t i = 0; i < sessions; ++i) {
        session& s = sessions_.emplace_back(context_, *this);
        finish([&s]() -> boost::asio::awaitable<void> { co_await s.zk.connect(); });
        s.hears_at_once = false;
        s.proxy.black_hole(true);
    }
}

meter::~meter() = default;

void meter::observe(const frame_info& frame) {
    bool counts = frame.kind == frame_kind::request || frame.kind == frame_kind::reply ||
                  frame.kind == frame_kind::notification;
    if (!counts || frame.op == op_code::ping || frame.path == question)
        return;
    const std::lock_guard lock(mutex_);
    if (frame.kind == frame_kind::request) {
        ++tally_.sum.requests;
        ++tally_.by_operation[std::string(to_string(frame.op))];
        tally_.sum.bytes_sent += frame.size;
    } else {
        tally_.sum.events += frame.kind == frame_kind::notification ? 1 : 0;
        tally_.sum.bytes_received += frame.size;
    }
}

meter::tally meter::so_far() const {
    const std::lock_guard lock(mutex_);
    return tally_;
}

std::uint64_t meter::frames() const {
    const std::lock_guard lock(mutex_);
    return tally_.sum.requests + tally_.sum.events;
}

/// The session hears what was to be told to it, all at once, and says what it has to say to that, until it
/// has nothing more to say.
void meter::take_turn(session& s) {
    auto limit = stopped_clock::real() + turn_limit;
    s.proxy.black_hole(false);
    std::uint64_t seen = 0;
    context_.restart();
    do {
        seen = frames();
        run_ready();
        bool answered = false;
        s.zk.exists(question, [&](error_code, const std::optional<stat>&) { answered = true; });
        while (!answered)
            context_.run_one();
        run_ready();
        if (stopped_clock::real() > limit)
            throw timeout_error("this does not come to an end:\n" + s.proxy.describe_log());
    } while (frames() != seen || s.busy());
    s.proxy.black_hole(true);
}

void meter::run_ready() {
    while (context_.poll() > 0) {
    }
}

void meter::take_turns() {
    std::uint64_t seen = 0;
    do {
        seen = frames();
        for (session& s : sessions_)
            take_turn(s);
    } while (frames() != seen);
}

void meter::turn_clock() {
    clock_.turn(a_while);
    // The kernel's timer goes by its own clock. One that is overdue makes Asio look at all of them.
    bool looked = false;
    boost::asio::steady_timer now(context_, boost::asio::steady_timer::time_point::min());
    now.async_wait([&](error_code) { looked = true; });
    context_.restart();
    while (!looked)
        context_.run_one();
}

void meter::settle() {
    std::uint64_t seen = 0;
    do {
        take_turns();
        seen = frames();
        turn_clock();
        take_turns();
    } while (frames() != seen);
}

void meter::start(work what) {
    works_.push_back(std::move(what));
    ++open_;
    boost::asio::co_spawn(context_, works_.back()(), [this](const std::exception_ptr& problem) {
        --open_;
        if (problem && !problem_)
            problem_ = problem;
    });
}

/// For what does not count as on its way: connecting and closing.
void meter::finish(work what) {
    start(std::move(what));
    context_.restart();
    while (open_ > 0)
        context_.run_one();
    tell_problem();
}

void meter::tell_problem() {
    if (problem_)
        std::rethrow_exception(std::exchange(problem_, nullptr));
}

void meter::begin(const work& what) {
    begin_many(1, what);
}

void meter::begin_many(std::size_t times, const work& what) {
    for (std::size_t i = 0; i < times; ++i)
        start(what);
    settle();
    tell_problem();
}

void meter::run(work what) {
    bool ended = false;
    begin([&ended, &what]() -> boost::asio::awaitable<void> {
        co_await what();
        ended = true;
    });
    if (!ended)
        throw std::logic_error("an operation waits for something that does not happen");
}

void meter::count(const std::string& name, work what) {
    count_steps(name, [&] { run(std::move(what)); });
}

void meter::count_steps(std::string name, const std::function<void()>& steps) {
    INFO(group_ << ": " << name);
    tally before = so_far();
    steps();
    tally after = so_far();
    cost used = after.sum;
    used.requests -= before.sum.requests;
    used.events -= before.sum.events;
    used.bytes_sent -= before.sum.bytes_sent;
    used.bytes_received -= before.sum.bytes_received;
    for (const auto& [operation, times] : after.by_operation) {
        if (std::uint64_t more = times - before.by_operation[operation])
            used.operations +=
                fmt::format("{}{} {}", used.operations.empty() ? "" : ", ", operation, more);
    }
    lines_.push_back({group_, std::move(name), std::move(used)});
}

void meter::close() {
    settle();
    if (open_ > 0)
        throw std::logic_error("something that was started has not ended");
    for (session& s : sessions_) {
        s.hears_at_once = true;
        s.proxy.black_hole(false);
        finish([&s]() -> boost::asio::awaitable<void> { co_await s.zk.close(); });
    }
}

void costs_of(const std::string& recipe,
              std::size_t sessions,
              const std::function<void(meter&)>& body) {
    meter m(recipe, sessions);
    body(m);
    m.close();
    std::vector<cost_line> recorded;
    {
        std::ifstream file(COROZK_RECORDED_COSTS);
        recorded = read_costs(file);
    }
    if (std::getenv("COROZK_RECORD_COSTS")) {
        std::ofstream file(COROZK_RECORDED_COSTS);
        file << table_text(replaced(recorded, m.lines(), recipe));
        REQUIRE(file.flush());
    } else {
        std::string different = differences(recorded, m.lines(), recipe);
        INFO(different << "If this is meant: test/costs/README.md.");
        CHECK(different.empty());
    }
}

}  // namespace corozk::testing
