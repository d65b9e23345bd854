// SPDX-License-Identifier: Apache-2.0
// `corozk-bench watch` beside a crowd that is a herd, and beside one that is none.
#include "bench_run.hpp"
#include "our_recipes.hpp"
#include "plain_locks.hpp"
#include "watch/server_words.hpp"
#include <corozk/testing/eventually.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <thread>

namespace corozk::testing::watch_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

constexpr std::size_t members = 15;

/// So many clients that want a lock again and again.
template <class Lock>
class restless_crowd {
public:
    explicit restless_crowd(std::string path) : path_(std::move(path)) {}

    /// Works until the condition holds.
    template <class Condition>
    void run_until(Condition condition) {
        auto work = all();
        boost::asio::co_spawn(
            context_, std::move(work), [this](std::exception_ptr e) { problem_ = e; });
        while (!condition()) {
            context_.restart();
            context_.run_for(std::chrono::milliseconds(20));
            if (problem_)
                std::rethrow_exception(problem_);
        }
    }

    std::size_t grants() const { return grants_; }

private:
    awaitable<void> all() {
        client_options options(the_server().hosts());
        for (std::size_t i = 0; i < members; ++i)
            clients_.push_back(co_await client::connect(options));
        co_await Lock::prepare(clients_.front(), path_);
        for (auto& c : clients_) {
            auto work = one(c);
            boost::asio::co_spawn(
                context_, std::move(work), [this](std::exception_ptr e) { problem_ = e; });
        }
    }

    awaitable<void> one(client& c) {
        bench::contest_setup setup("ours", members);
        Lock lock(c, path_, setup);
        boost::asio::steady_timer timer(context_);
        for (;;) {
            auto held = co_await lock.acquire(1);
            ++grants_;
            timer.expires_after(std::chrono::milliseconds(50));  // what the lock is for
            co_await timer.async_wait(boost::asio::use_awaitable);
            co_await held.release();
        }
    }

    boost::asio::io_context context_{1};
    std::string path_;
    std::vector<client> clients_;
    std::size_t grants_ = 0;
    std::exception_ptr problem_;
};

/// The program, while something else goes on.
class watching {
public:
    explicit watching(const std::vector<std::string>& more, server& at = the_server()) {
        process_options what;
        what.command = {COROZK_BENCH, "watch", "--hosts", at.hosts(), "--interval", "1"};
        what.command.insert(what.command.end(), more.begin(), more.end());
        what.output = folder_.path() / "out";
        process_.emplace(what);
    }

    std::string out() const { return content_of(folder_.path() / "out"); }
    bool says(const std::string& text) const { return out().find(text) != std::string::npos; }
    process_guard& process() { return *process_; }

private:
    temporary_directory folder_;
    std::optional<process_guard> process_;
};

/// Answers everything alike.
class http_server {
public:
    http_server() {
        boost::asio::co_spawn(context_, serve(), boost::asio::detached);
        thread_ = std::jthread([this] { context_.run(); });
    }
    ~http_server() { context_.stop(); }
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    std::string hosts() const {
        return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

private:
    awaitable<void> serve() {
        for (;;) {
            auto socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
            std::string word(4, ' ');
            auto its_word = boost::asio::buffer(word);
            co_await boost::asio::async_read(socket, its_word, boost::asio::use_awaitable);
            std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
            auto its_answer = boost::asio::buffer(answer);
            co_await boost::asio::async_write(socket, its_answer, boost::asio::use_awaitable);
        }
    }

    boost::asio::io_context context_{1};
    boost::asio::ip::tcp::acceptor acceptor_{context_,
                                             {boost::asio::ip::address_v4::loopback(), 0}};
    std::jthread thread_;
};

}  // namespace

TEST_CASE("watch: a herd is named, with the path of its lock") {
    restless_crowd<bench::herd_lock> crowd("/watch/herd");
    watching program({"--looks", "60"});
    std::string line = "herd at /watch/herd/lock: ";
    crowd.run_until([&] { return program.says(line) || !program.process().running(); });
    INFO(program.out());
    CHECK(program.says(line));
    CHECK(program.says(" wait for the same again"));
    // Ctrl-C is its end, and it has found what it has found.
    program.process().signal(SIGINT);
    REQUIRE(program.process().wait(std::chrono::minutes(1)));
    CHECK(program.process().exit_status() == 1);
}

TEST_CASE("watch: interrupted before a herd was seen, it says so by its exit code") {
    server alone(client_server_options());
    watching program({}, alone);
    eventually([&] { return program.says(" sessions"); }, std::chrono::minutes(1));
    program.process().signal(SIGINT);
    REQUIRE(program.process().wait(std::chrono::minutes(1)));
    INFO(program.out());
    CHECK(program.process().exit_status() == 130);
}

TEST_CASE("watch: an interruption is its end, with a report, and what cannot be written is said") {
    server alone(client_server_options());
    bench_run bench;
    std::string report = bench.path("report");
    auto [more, code] = GENERATE_REF(table<std::vector<std::string>, int>(
        {{{"--report", report}, 130}, {{"--json", "/dev/full"}, 2}}));
    watching program(more, alone);
    eventually([&] { return program.says(" sessions"); }, std::chrono::minutes(1));
    program.process().signal(SIGINT);
    REQUIRE(program.process().wait(std::chrono::minutes(1)));
    INFO(program.out());
    CHECK(program.process().exit_status() == code);
    if (code == 130)
        CHECK(std::filesystem::exists(report + "/index.html"));
    else
        CHECK(program.says("cannot write /dev/full"));
}

TEST_CASE("watch: waiters of corozk's lock are no herd") {
    restless_crowd<bench::our_lock> crowd("/watch/ours");
    std::optional<watching> program;
    std::size_t before = 0;
    crowd.run_until([&] {
        if (program)
            return !program->process().running();
        before = crowd.grants();
        if (before > 0)
            program.emplace(std::vector<std::string>{"--looks", "4", "--crowd", "3"});
        return false;
    });
    INFO(program->out());
    CHECK(crowd.grants() > before);
    CHECK(program->process().exit_status() == 0);
    CHECK(program->says(" notifications since the last look"));
    CHECK_FALSE(program->says("herd at"));
    CHECK_FALSE(program->says("burst"));
}

TEST_CASE("watch: one look shows who watches what") {
    bench_run bench;
    restless_crowd<bench::herd_lock> crowd("/watch/again");
    std::optional<watching> program;
    int looks = 0;
    crowd.run_until([&] {
        if (program && program->process().running())
            return false;
        // At first the crowd has not gathered yet.
        bool seen = program && program->says("crowd at /watch/again/lock: ");
        if (seen || ++looks > 500)
            return true;
        program.emplace(std::vector<std::string>{"--once", "--json", bench.path("rows.json")});
        return false;
    });
    INFO(program->out());
    bool found = false;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        bool mine = row.at("path") == "/watch/again/lock";
        found = found || mine;
        if (mine) {
            CHECK(row.at("finding") == "crowd");
            CHECK(row.at("sessions").to_number<double>() >= 10);
        }
    }
    CHECK(found);
}

TEST_CASE("watch: words that a server refuses are said, with its setting") {
    server_options options = client_server_options();
    options.config_lines = {"4lw.commands.whitelist=mntr,srvr,conf"};
    server shy(options);
    watching program({"--once"}, shy);
    REQUIRE(program.process().wait(std::chrono::minutes(1)));
    INFO(program.out());
    CHECK(program.process().exit_status() == 0);
    CHECK(program.says(shy.hosts() + " refuses cons, wchp, wchs; zoo.cfg allows it: "
                                     "4lw.commands.whitelist=mntr,wchs,wchp,cons"));
    CHECK(program.says("no path can be named"));
    // The one that asks is not counted.
    CHECK(program.says(shy.hosts() + ": 0 connections"));
    CHECK_FALSE(program.says("0 sessions"));
}

TEST_CASE("watch: who answers, but not like ZooKeeper, is not watched") {
    http_server other;
    bench_run bench;
    CHECK(bench.run({"watch", "--hosts", other.hosts(), "--once"}) == 2);
    INFO(bench.out());
    CHECK(bench.out().find(other.hosts() + " did not answer like ZooKeeper to 'wchs'") !=
          std::string::npos);
    CHECK(bench.out().find("no server reports anything") != std::string::npos);
}

TEST_CASE("watch: an answer has a limit") {
    boost::asio::io_context context(1);
    std::string problem;
    auto addresses = bench::parse_hosts(the_server().hosts());
    auto ask = bench::ask_server(addresses.front(), "mntr", std::chrono::seconds(60), 100);
    boost::asio::co_spawn(context, std::move(ask), [&](std::exception_ptr e, const std::string&) {
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (const bench::server_silent& silent) {
            problem = silent.what();
        }
    });
    context.run();
    CHECK(problem ==
          the_server().hosts() + " answered more than 100 B to 'mntr': is this ZooKeeper?");
}

TEST_CASE("watch: a port that says nothing may be one for TLS") {
    boost::asio::io_context context(1);
    boost::asio::ip::tcp::acceptor silent(context, {boost::asio::ip::address_v4::loopback(), 0});
    bench::server_address address{"127.0.0.1", std::to_string(silent.local_endpoint().port())};
    std::string problem;
    auto ask = bench::ask_server(address, "mntr", std::chrono::seconds(1));
    boost::asio::co_spawn(context, std::move(ask), [&](std::exception_ptr e, const std::string&) {
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (const bench::server_silent& silence) {
            problem = silence.what();
        }
    });
    context.run();
    CHECK(problem ==
          address.text() + " did not answer 'mntr' within 1 s: is this its port for TLS?");
}

TEST_CASE("watch: mistakes are said in words") {
    bench_run bench;
    CHECK(bench.run({"watch"}) == 2);
    CHECK(bench.out().find("watch: which servers? --hosts") != std::string::npos);
    CHECK(bench.run({"watch", "--hosts", "a:1", "--once", "--looks", "3"}) == 2);
    CHECK(bench.out().find("--once is --looks 1: not both") != std::string::npos);
    CHECK(bench.run({"watch", "--hosts", "a:b", "--once"}) == 2);
    CHECK(bench.out().find("'a:b' is not HOST:PORT") != std::string::npos);
    port_reservation nobody;
    std::string hosts = "127.0.0.1:" + std::to_string(nobody.port());
    std::string rows = bench.path("rows.json");
    CHECK(bench.run({"watch", "--hosts", hosts, "--once", "--json", rows}) == 2);
    CHECK_FALSE(std::filesystem::exists(rows));
    std::ofstream(rows) << "[]";
    CHECK(bench.run({"watch", "--hosts", hosts, "--once", "--json", rows}) == 2);
    CHECK(content_of(rows) == "[]");
    CHECK(bench.out().find("cannot connect to " + hosts) != std::string::npos);
    CHECK(bench.out().find("no server reports anything") != std::string::npos);
    // Of several servers, one that answers is enough.
    CHECK(bench.run({"watch", "--hosts", hosts + "," + the_server().hosts(), "--once"}) == 0);
    CHECK(bench.out().find("cannot connect to " + hosts) != std::string::npos);
    CHECK(bench.out().find(the_server().hosts() + ": ") != std::string::npos);
}

}  // namespace corozk::testing::watch_test
