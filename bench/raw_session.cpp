// SPDX-License-Identifier: Apache-2.0
#include "raw_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <poll.h>
#include <stdexcept>

namespace corozk::bench {

namespace {

raw_session& session_of(const void* context) {
    return *const_cast<raw_session*>(static_cast<const raw_session*>(context));
}

void on_nudged(int, const struct Stat*, const void*) {}

void on_log(const char*) {}  // that nobody answers is said once, by us

}  // namespace

raw_session::raw_session(const std::string& hosts, int timeout_ms) {
    handle = ::zookeeper_init2(hosts.c_str(), on_event, timeout_ms, nullptr, this, 0, on_log);
    if (!handle)
        throw std::runtime_error("the C client cannot use the hosts " + hosts +
                                 ": each needs a name that is known here, and a port");
    // Otherwise it looks the host names up again in every turn, which is no part of a floor.
    ::zoo_set_servers_resolution_delay(handle, -1);
}

raw_session::~raw_session() {
    ::zookeeper_close(handle);
}

void raw_session::answer(int code) {
    ++answered;
    if (code != ZOK && result == ZOK)
        result = code;
}

void raw_session::synchronise(const std::string& path) {
    ++started;
    expect(::zoo_async(handle, path.c_str(), on_name, this), "sync");
}

void raw_session::nudge() {
    if (connected)
        expect(::zoo_aexists(handle, "/", 0, on_nudged, nullptr), "exists");
}

void raw_session::on_event(zhandle_t*, int type, int state, const char*, void* context) {
    raw_session& s = session_of(context);
    if (type == ZOO_SESSION_EVENT) {
        s.connected = state == ZOO_CONNECTED_STATE;
    } else {
        s.event_at = clock::now();
        ++s.events;
    }
}

void raw_session::on_name(int code, const char*, const void* context) {
    session_of(context).answer(code);
}

void raw_session::on_stat(int code, const struct Stat*, const void* context) {
    session_of(context).answer(code);
}

void raw_session::on_names(int code, const struct String_vector*, const void* context) {
    session_of(context).answer(code);
}

void raw_session::on_nothing(int code, const void* context) {
    session_of(context).answer(code);
}

void step(std::span<raw_session* const> sessions, clock::time_point until) {
    std::array<pollfd, 4> polled{};
    clock::duration patience = long_silence;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        int interest = 0;
        timeval limit{};
        int descriptor = -1;
        ::zookeeper_interest(sessions[i]->handle, &descriptor, &interest, &limit);
        polled[i].fd = descriptor;
        if (interest & ZOOKEEPER_READ)
            polled[i].events |= POLLIN;
        if (interest & ZOOKEEPER_WRITE)
            polled[i].events |= POLLOUT;
        clock::duration its =
            std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec);
        patience = std::min(patience, its);
    }
    if (until != clock::time_point::max())
        patience = std::clamp<clock::duration>(until - clock::now(), clock::duration(0), patience);
    timespec timeout{};
    timeout.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
    timeout.tv_nsec = (patience % std::chrono::seconds(1)).count();
    const bool silent = ::ppoll(polled.data(), sessions.size(), &timeout, nullptr) == 0;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        int ready = 0;
        if (polled[i].revents & (POLLIN | POLLHUP | POLLERR))
            ready |= ZOOKEEPER_READ;
        if (polled[i].revents & POLLOUT)
            ready |= ZOOKEEPER_WRITE;
        ::zookeeper_process(sessions[i]->handle, ready);
        if (silent && patience == long_silence)
            sessions[i]->nudge();
    }
}

void expect(int code, const char* what) {
    if (code != ZOK)
        throw std::runtime_error(fmt::format("C client: {}: {}", what, ::zerror(code)));
}

}  // namespace corozk::bench
