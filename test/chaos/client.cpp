// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include "crash_report.hpp"
#include "shifted_clock.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace corozk::chaos {

namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;

auto as_tuple() {
    return asio::as_tuple(asio::use_awaitable);
}

/// Nothing has come of it, for certain.
bool nothing_was_sent(const error_code& ec) {
    return ec == errc::not_connected || ec == errc::would_block;
}

/// A line to the resource, and its answer.
class reporter {
public:
    reporter(asio::io_context& context, const client_role& role)
        : socket_(context), who_(role.name), port_(role.resource_port) {}

    awaitable<bool> tell(std::string what) {
        if (!socket_.is_open()) {
            tcp::endpoint there(asio::ip::address_v4::loopback(), port_);
            co_await socket_.async_connect(there, asio::use_awaitable);
        }
        std::string line = who_ + " " + what + "\n";
        co_await asio::async_write(socket_, asio::buffer(line), asio::use_awaitable);
        std::size_t size = co_await asio::async_read_until(
            socket_, asio::dynamic_buffer(buffer_), '\n', asio::use_awaitable);
        bool ok = buffer_.starts_with("ok");
        if (buffer_.starts_with("what?"))
            throw std::runtime_error("the resource does not understand: " + line);
        buffer_.erase(0, size);
        co_return ok;
    }

    awaitable<bool> tell(const char* what, std::int64_t token, std::int64_t number = 0) {
        std::ostringstream text;
        text << what << " " << token << " " << number;
        bool ok = co_await tell(text.str());
        co_return ok;
    }

    awaitable<void> tell(testing::turn_clock::turn longest) {
        std::ostringstream text;
        text << "turn " << longest.took.count() << " " << longest.in_kernel.count() << " "
             << longest.page_faults << " " << longest.preemptions;
        co_await tell(text.str());
    }

private:
    tcp::socket socket_;
    std::string who_;
    std::uint16_t port_;
    std::string buffer_;
};

class life {
public:
    explicit life(const client_role& role) : role_(role), random_(std::random_device()()) {}

    int operator()() {
        asio::signal_set term(context_, SIGTERM);
        term.async_wait([this](error_code, int) { stopping_ = true; });
        std::exception_ptr failure;
        asio::co_spawn(context_, whole(), [&](std::exception_ptr e) {
            failure = e;
            term.cancel();
        });
        testing::turn_clock clock;
        constexpr auto no_deadline = std::chrono::steady_clock::time_point::max();
        unsigned disturbed_before = disturbances();
        while (testing::run_one(context_, clock, no_deadline)) {
            testing::turn_clock::turn turn = clock.take_longest();
            // Who is stopped in the middle of a turn has not been blocked by it.
            const unsigned disturbed = disturbances();
            if (std::exchange(disturbed_before, disturbed) != disturbed)
                turn.took -= turn.blocked;
            if (turn.took > longest_turn_.took)
                longest_turn_ = turn;
        }
        try {
            if (failure)
                std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::cerr << role_.name << ": " << e.what() << std::endl;
            return 1;
        }
        return 0;
    }

private:
    using worker = awaitable<void> (life::*)(reporter&);

    awaitable<void> whole() {
        client_options options(role_.hosts);
        options.session_timeout = session_timeout;
        options.connect_timeout = 60s;
        if (!role_.tls_ca.empty())
            options.tls.emplace().ca_file = role_.tls_ca;
        options.logger.level = log_level::off;
        // However long nobody serves.
        for (zk_ = client(context_.get_executor(), options);;) {
            auto [ec] = co_await zk_.connect(as_tuple());
            if (!ec || stopping_)
                break;
            zk_ = client(context_.get_executor(), options);
        }
        const worker use_items = is_taker() ? &life::take : &life::consume;
        const worker workers[] = {
            &life::own, &life::put, use_items, &life::add, &life::lead, &life::witness};
        std::exception_ptr failed;
        int running = 0;
        asio::steady_timer all_done(context_, asio::steady_timer::time_point::max());
        for (worker w : workers) {
            ++running;
            asio::co_spawn(context_, run(w), [&](std::exception_ptr e) {
                if (e) {
                    failed = e;
                    stopping_ = true;
                }
                if (--running == 0)
                    all_done.cancel();
            });
        }
        while (running > 0)
            co_await all_done.async_wait(as_tuple());
        if (failed)
            std::rethrow_exception(failed);
        co_await zk_.close(as_tuple());
    }

    bool is_taker() const { return std::stoul(role_.name) == taker; }

    awaitable<void> run(worker w) {
        reporter told(context_, role_);
        co_await (this->*w)(told);
    }

    awaitable<void> pause(int most_ms) {
        std::uniform_int_distribution<int> some(1, most_ms);
        asio::steady_timer timer(context_, std::chrono::milliseconds(some(random_)));
        co_await timer.async_wait(asio::use_awaitable);
    }

    std::string own_name(const char* kind) {
        return role_.name + "-" + kind + std::to_string(++count_);
    }

    /// Holds the lock for a while, uses the resource, and writes through the guard.
    awaitable<void> own(reporter& told) {
        lock l(zk_, std::string(root) + "/lock");
        std::string guarded = std::string(root) + "/guarded";
        while (!stopping_) {
            co_await told.tell("asked", 0);
            auto [ec, held] = co_await l.acquire_for(3s, as_tuple());
            if (ec) {
                co_await pause(50);
                continue;
            }
            std::int64_t token = held.fencing_token();
            bool in = co_await told.tell("enter", token);
            // Does not ask whether it still owns: the resource has to.
            for (int i = 0; in && i < 3; ++i) {
                co_await pause(5);
                in = co_await told.tell("use", token);
            }
            transaction steps;
            steps.set(guarded, std::to_string(token));
            auto [failed, results] = co_await held.commit(steps, as_tuple());
            if (!failed)
                co_await told.tell("wrote", token, results.front().stat.mzxid);
            co_await told.tell("left", token);
            co_await held.release(as_tuple());
            co_await pause(20);
        }
    }

    awaitable<void> put(reporter& told) {
        // A queue that only grows would show how long it takes to list it, and nothing else.
        constexpr std::int32_t enough = 1000;
        const std::string path = std::string(root) + "/queue";
        queue q(zk_, path);
        while (!stopping_) {
            auto [unknown, folder] = co_await zk_.exists(path, as_tuple());
            if (!unknown && folder && folder->num_children > enough) {
                co_await pause(80);
                continue;
            }
            std::string item = own_name("item");
            bool wanted = co_await told.tell("putting " + item);
            if (!wanted)
                break;
            auto deadline = std::chrono::steady_clock::now() + 3s;
            auto [ec] = co_await q.put_until(item, deadline, as_tuple());
            if (!ec) {
                co_await told.tell("put " + item);
            } else if (nothing_was_sent(ec)) {
                co_await told.tell("refused " + item);
            }
            co_await pause(80);
        }
    }

    /// Each item has one effect, written with its acknowledgement.
    awaitable<void> consume(reporter& told) {
        queue q(zk_, std::string(root) + "/queue");
        while (!stopping_) {
            auto deadline = std::chrono::steady_clock::now() + 1s;
            auto [ec, claim] = co_await q.consume_until(deadline, as_tuple());
            if (ec) {
                co_await pause(20);
                continue;
            }
            create_options another;
            another.mode = create_mode::persistent_sequential;
            transaction steps;
            steps.create(std::string(root) + "/effects/" + claim.data() + "-", "", another);
            auto [failed] = co_await claim.acknowledge(steps, as_tuple());
            if (!failed)
                co_await told.tell("done " + claim.data());
            co_await pause(10);
        }
    }

    /// Each item is gone with its removal, and what became of it only the taker can say.
    awaitable<void> take(reporter& told) {
        queue q(zk_, std::string(root) + "/queue");
        while (!stopping_) {
            auto deadline = std::chrono::steady_clock::now() + 1s;
            auto [ec, item] = co_await q.take_until(deadline, as_tuple());
            if (!ec) {
                co_await told.tell("took " + item.data);
            } else if (!item.data.empty()) {
                co_await told.tell("perhaps_took " + item.data);
            }
            co_await pause(20);
        }
    }

    awaitable<void> add(reporter& told) {
        counter c(zk_, std::string(root) + "/counter");
        std::int64_t number = 0;
        while (!stopping_) {
            ++number;
            co_await told.tell("adding", 0, number);
            auto [ec, value] = co_await c.add(1, as_tuple());
            if (!ec) {
                co_await told.tell("added", value, number);
            } else if (nothing_was_sent(ec)) {
                co_await told.tell("not_added", 0, number);
            }
            co_await pause(30);
        }
    }

    /// Plain changes of one node, which no recipe has to do with: whether the servers keep what they
    /// have acknowledged.
    awaitable<void> witness(reporter& told) {
        const std::string path = std::string(root) + "/witness";
        while (!stopping_) {
            auto [ec, record] = co_await zk_.set(path, role_.name, any_version, as_tuple());
            if (!ec)
                co_await told.tell("witnessed", record.version, record.mzxid);
            co_await pause(100);
        }
    }

    awaitable<void> lead(reporter& told) {
        leader_latch latch(zk_, std::string(root) + "/leader");
        latch.start();
        std::int64_t last = 0;
        while (!stopping_) {
            auto deadline = std::chrono::steady_clock::now() + 1s;
            auto [ec, token] = co_await latch.wait_leadership_until(deadline, as_tuple());
            if (!ec && token != last) {
                last = token;
                co_await told.tell("leads", token);
                co_await pause(50);
                co_await latch.resign(as_tuple());
            }
            if (ec == errc::not_a_member)
                latch.start();
            co_await told.tell(std::exchange(longest_turn_, {}));
            co_await pause(30);
        }
        co_await latch.close(as_tuple());
    }

    const client_role& role_;
    asio::io_context context_;
    std::mt19937 random_;
    client zk_;
    testing::turn_clock::turn longest_turn_;
    bool stopping_ = false;
    int count_ = 0;
};

}  // namespace

int run_client(const client_role& role) {
    testing::report_crashes();
    obey_clock_signals();
    life l(role);
    return l();
}

}  // namespace corozk::chaos
