// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <zookeeper/zookeeper.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace corozk::bench {

/// A session of the bare C client, which counts what comes of its requests. Whoever has it polls
/// for it. The callbacks want it as their context.
struct raw_session {
    zhandle_t* handle = nullptr;
    bool connected = false;
    std::size_t started = 0;
    std::size_t answered = 0;
    int result = ZOK;  ///< the first one that was not good
    std::size_t events = 0;
    clock::time_point event_at{};

    raw_session(const std::string& hosts, int timeout_ms);
    ~raw_session();
    raw_session(const raw_session&) = delete;
    raw_session& operator=(const raw_session&) = delete;

    void answer(int code);

    /// Asks that its server knows everything that was done before; of several they differ.
    void synchronise(const std::string& path);

    /// Sends a request that is not counted. A server of an ensemble may leave a response until the
    /// next request arrives (ZOOKEEPER-4537, mended in 3.8.1), and the C client sends no ping while
    /// it waits for one.
    void nudge();

    static void on_event(zhandle_t*, int type, int state, const char*, void* context);
    static void on_name(int code, const char*, const void* context);
    static void on_stat(int code, const struct Stat*, const void* context);
    static void on_names(int code, const struct String_vector*, const void* context);
    static void on_nothing(int code, const void* context);
};

/// When nothing has come for so long, the sessions that somebody waits for are nudged.
constexpr std::chrono::milliseconds long_silence{500};

/// Nothing has come of what was asked for, for so long: something is wrong.
constexpr std::chrono::seconds raw_patience{60};

/// Waits until something can be done for one of them, at most four, and does it; at the longest
/// until then.
void step(std::span<raw_session* const> sessions,
          clock::time_point until = clock::time_point::max());

/// Throws what the C client has to say if that is not good.
void expect(int code, const char* what);

}  // namespace corozk::bench
