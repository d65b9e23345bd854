// SPDX-License-Identifier: Apache-2.0
#include "raw_loop.hpp"

#include "raw_session.hpp"
#include "usage.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace corozk::bench {

void raw_loop::samples::add(const samples& other) {
    create.add(other.create);
    exists.add(other.exists);
    erase.add(other.erase);
    create_and_erase.add(other.create_and_erase);
    handover.add(other.handover);
    handover_in_row.add(other.handover_in_row);
}

raw_loop::raw_loop(const std::string& hosts,
                   const std::string& second_hosts,
                   std::string folder,
                   int session_timeout_ms)
    : folder_(std::move(folder)),
      first_(std::make_unique<raw_session>(hosts, session_timeout_ms)),
      second_(std::make_unique<raw_session>(second_hosts, session_timeout_ms)) {
    auto limit = clock::now() + std::chrono::seconds(10);
    while (!first_->connected || !second_->connected) {
        if (clock::now() > limit)
            throw std::runtime_error("no ZooKeeper server answers at " + hosts);
        step();
    }
}

raw_loop::~raw_loop() = default;

std::string raw_loop::path(std::size_t number) const {
    return fmt::format("{}/{}", folder_, number);
}

void raw_loop::step() {
    std::array<raw_session*, 2> sessions{first_.get(), second_.get()};
    bench::step(sessions);
}

void raw_loop::wait() {
    while (first_->answered < first_->started || second_->answered < second_->started)
        step();
    expect(first_->result, "request");
    expect(second_->result, "request");
}

/// Until the second session has seen more, after the first one has erased a node.
void raw_loop::wait_for_event(std::size_t seen) {
    auto limit = clock::now() + raw_patience;
    while (second_->events == seen) {
        if (clock::now() > limit)
            throw std::runtime_error("C client: no event came");
        step();
        expect(first_->result, "delete");
    }
}

void raw_loop::start(raw_session& s, kind what, const std::string& path, bool watched) {
    ++s.started;
    switch (what) {
        case kind::create:
            expect(::zoo_acreate(s.handle,
                                 path.c_str(),
                                 "",
                                 0,
                                 &ZOO_OPEN_ACL_UNSAFE,
                                 ZOO_EPHEMERAL,
                                 raw_session::on_name,
                                 &s),
                   "create");
            break;
        case kind::exists:
            expect(::zoo_awexists(s.handle,
                                  path.c_str(),
                                  watched ? raw_session::on_event : nullptr,
                                  &s,
                                  raw_session::on_stat,
                                  &s),
                   "exists");
            break;
        case kind::erase:
            expect(::zoo_adelete(s.handle, path.c_str(), -1, raw_session::on_nothing, &s),
                   "delete");
            break;
    }
}

raw_loop::samples raw_loop::measure(std::size_t count) {
    samples result;
    std::string node = path(0);
    raw_session& a = *first_;
    raw_session& b = *second_;
    auto timed = [&](latencies& into, kind what) {
        auto began = clock::now();
        start(a, what, node);
        wait();
        into.add(to_microseconds(clock::now() - began));
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (on_progress)
            on_progress(i, count);
        timed(result.create, kind::create);
        timed(result.exists, kind::exists);
        timed(result.erase, kind::erase);

        auto began = clock::now();
        start(a, kind::create, node);
        wait();
        start(a, kind::erase, node);
        wait();
        result.create_and_erase.add(to_microseconds(clock::now() - began));

        start(a, kind::create, node);
        wait();
        b.synchronise(folder_);
        start(b, kind::exists, node, true);
        wait();
        std::size_t seen = b.events;
        began = clock::now();
        start(a, kind::erase, node);
        wait_for_event(seen);
        result.handover.add(to_microseconds(b.event_at - began));
        wait();
    }
    run_all(a, kind::create, count, 500, false);
    b.synchronise(folder_);
    run_all(b, kind::exists, count, 500, true);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t seen = b.events;
        auto began = clock::now();
        start(a, kind::erase, path(i));
        wait_for_event(seen);
        result.handover_in_row.add(to_microseconds(b.event_at - began));
    }
    wait();
    return result;
}

raw_loop::cycles raw_loop::create_and_erase(std::size_t count) {
    cycles result;
    std::string node = path(0);
    double cpu = usage::process_cpu_seconds();
    for (std::size_t i = 0; i < count; ++i) {
        if (on_progress && i % 100 == 0)
            on_progress(i, count);
        auto began = clock::now();
        start(*first_, kind::create, node);
        wait();
        start(*first_, kind::erase, node);
        wait();
        result.times.add(to_microseconds(clock::now() - began));
    }
    cpu = usage::process_cpu_seconds() - cpu;
    result.cpu_us_per_request = cpu * 1e6 / static_cast<double>(2 * count);
    return result;
}

void raw_loop::run_all(
    raw_session& s, kind what, std::size_t count, std::size_t in_flight, bool watched) {
    for (std::size_t i = 0; i < count; ++i) {
        start(s, what, path(i), watched);
        while (s.started - s.answered >= in_flight)
            step();
        if (on_progress && i % 100 == 0)
            on_progress(i, count);
    }
    wait();
}

raw_loop::throughput raw_loop::pipeline(std::size_t count, std::size_t in_flight) {
    throughput result;
    double cpu = usage::process_cpu_seconds();
    auto timed = [&](kind what) {
        auto began = clock::now();
        run_all(*first_, what, count, in_flight, false);
        return static_cast<double>(count) / to_seconds(clock::now() - began);
    };
    result.create_per_s = timed(kind::create);
    result.exists_per_s = timed(kind::exists);
    result.erase_per_s = timed(kind::erase);
    cpu = usage::process_cpu_seconds() - cpu;
    result.cpu_us_per_request = cpu * 1e6 / static_cast<double>(3 * count);
    return result;
}

latencies raw_loop::conditional_sets(std::size_t count) {
    latencies result;
    raw_session& s = *first_;
    std::string node = path(0);
    start(s, kind::create, node);
    wait();
    for (std::size_t i = 0; i < count; ++i) {
        if (on_progress && i % 100 == 0)
            on_progress(i, count);
        auto began = clock::now();
        ++s.started;
        expect(::zoo_aset(s.handle,
                          node.c_str(),
                          "12345678",
                          8,
                          static_cast<int>(i),
                          raw_session::on_stat,
                          &s),
               "set");
        wait();
        result.add(to_microseconds(clock::now() - began));
    }
    start(s, kind::erase, node);
    wait();
    return result;
}

void raw_loop::fill(const std::string& folder, const std::string& prefix, std::size_t count) {
    raw_session& s = *first_;
    std::string node = folder + '/' + prefix;
    for (std::size_t i = 0; i < count; ++i) {
        ++s.started;
        expect(::zoo_acreate(s.handle,
                             node.c_str(),
                             "",
                             0,
                             &ZOO_OPEN_ACL_UNSAFE,
                             ZOO_PERSISTENT_SEQUENTIAL,
                             raw_session::on_name,
                             &s),
               "create");
        while (s.started - s.answered >= 500)
            step();
    }
    wait();
}

latencies raw_loop::listings(const std::string& folder, std::size_t count) {
    latencies result;
    raw_session& s = *first_;
    for (std::size_t i = 0; i < count; ++i) {
        auto began = clock::now();
        ++s.started;
        expect(::zoo_aget_children(s.handle, folder.c_str(), 0, raw_session::on_names, &s), "list");
        wait();
        result.add(to_microseconds(clock::now() - began));
    }
    return result;
}

void raw_loop::make(const std::string& path) {
    raw_session& s = *first_;
    ++s.started;
    expect(::zoo_acreate(
               s.handle, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, raw_session::on_name, &s),
           "create");
    while (s.answered < s.started)
        step();
    if (s.result == ZNODEEXISTS)
        s.result = ZOK;
    if (s.result == ZNONODE)
        throw std::runtime_error(fmt::format(
            "cannot create {}: its parent does not exist; a path behind the hosts must exist",
            path));
    expect(s.result, "create");
}

}  // namespace corozk::bench
