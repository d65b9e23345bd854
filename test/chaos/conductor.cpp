// SPDX-License-Identifier: Apache-2.0
// The course of a run: who is started, what follows what.
#include "conductor.hpp"

#include <corozk/testing/admin.hpp>
#include <corozk/testing/still_loop.hpp>

#include <csignal>
#include <iostream>
#include <thread>

namespace corozk::chaos {

using namespace std::chrono_literals;

namespace {

void say(const std::string& what) {
    std::cerr << "chaos: " << what << std::endl;
}

}  // namespace

conductor::conductor(std::string self, plan p)
    : self_(std::move(self)),
      plan_(p),
      random_(p.seed),
      deck_(weights(), random_),
      clients_(p.clients) {}

void conductor::check(bool holds, const std::string& what) {
    if (!holds)
        problems_.push_back(what);
}

testing::ensemble_options conductor::with_routes() {
    testing::ensemble_options options;
    options.quorum_route = [this](std::size_t asks, std::size_t whom, std::uint16_t port) {
        auto& route = routes_.at(asks).at(whom);
        if (!route)
            route = std::make_unique<testing::stream_proxy>();
        route->forward_to(port);
        return route->port();
    };
    return options;
}

std::string conductor::hosts_of(std::size_t client) const {
    std::string hosts;
    for (const auto& one : ways_[client % 2])
        hosts += (hosts.empty() ? "" : ",") + one->hosts();
    return hosts;
}

void conductor::start_client(std::size_t which) {
    member& m = clients_[which];
    ++m.life;
    testing::process_options options;
    std::string name = std::to_string(which) + "." + std::to_string(m.life);
    options.command = {self_,
                       "--client",
                       name,
                       "--hosts",
                       hosts_of(which),
                       "--resource",
                       std::to_string(resource_.port())};
    if (plan_.tls) {
        options.command.push_back("--tls-ca");
        options.command.push_back(testing::tls_front::trusted().ca_file);
    }
    options.output = folder_.path() / ("client-" + std::to_string(which));
    m.process = std::make_unique<testing::process_guard>(options);
}

/// Nobody ends by himself.
void conductor::look_after_clients() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        member& m = clients_[i];
        if (m.busy || m.process->running())
            continue;
        check(false,
              "client " + std::to_string(i) + " ended by itself, with " +
                  std::to_string(m.process->exit_status().value_or(0)));
        start_client(i);
    }
}

void conductor::end_clients() {
    for (member& m : clients_)
        m.process->signal(SIGTERM);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        bool ended = clients_[i].process->wait(60s);
        int status = clients_[i].process->exit_status().value_or(-1);
        check(ended, "client " + std::to_string(i) + " did not end");
        check(!ended || status == 0,
              "client " + std::to_string(i) + " ended with " + std::to_string(status));
        clients_[i].process->kill();
    }
}

void conductor::set_up() {
    say("starting the servers");
    servers_ = std::make_unique<testing::ensemble>(with_routes());
    for (auto& row : ways_) {
        for (std::size_t i = 0; i < 3; ++i)
            row[i] = std::make_unique<way>((*servers_)[i].port(), plan_.tls);
    }
    testing::admin hand((*servers_)[0].port());
    hand.plant(std::string(root) + "/guarded", "0");
    hand.plant(std::string(root) + "/witness", "");
    hand.plant(std::string(root) + "/effects");
    for (std::size_t i = 0; i < clients_.size(); ++i)
        start_client(i);
}

/// Long enough for each kind of fault to happen, so that it has to.
bool conductor::is_long() const {
    return plan_.length >= 30s;
}

/// One fault after the other, and several at a time. The first round of them may take longer:
/// the servers of a slow machine need their time to serve again.
void conductor::break_things() {
    auto end = clock::now() + plan_.length;
    auto at_latest = is_long() ? end + 180s : end;
    auto next_word = clock::now() + 20s;
    while (clock::now() < (deck_.first_round_is_over() ? end : at_latest)) {
        fault();
        auto until = clock::now() + between(50ms, 800ms);
        while (clock::now() < until) {
            run_undone(false);
            watch_owner();
            look_after_clients();
            std::this_thread::sleep_for(10ms);
        }
        if (clock::now() >= next_word) {
            next_word = clock::now() + 20s;
            judgement j = resource_.told().judge(final_state());
            say(std::to_string(j.accesses) + " accesses, " + std::to_string(j.hand_overs) +
                " hand-overs, " + std::to_string(j.fenced) + " fenced");
        }
    }
}

bool conductor::operator()() {
    std::cout << "seed " << plan_.seed << ", " << plan_.clients << " clients, 3 servers, "
              << plan_.length.count() << " s" << (plan_.tls ? ", TLS" : "") << std::endl;
    set_up();
    testing::still_loop nobody([this](auto turn) { resource_.note_turn_of_nobody(turn); });
    see_a_late_owner();
    break_things();
    say("all faults are over");
    calm_down();
    settle();
    see_progress();
    final_state last;
    try {
        drain_queue();
        end_clients();
        last = look();
    } catch (const std::exception& e) {
        std::cout << "FAILED: what is left could not be seen: " << e.what() << "; seed "
                  << plan_.seed << std::endl;
        for (const std::string& problem : problems_)
            std::cout << "PROBLEM: " << problem << "\n";
        describe_servers();
        keep_servers();
        return false;
    }
    return report(last);
}

}  // namespace corozk::chaos
