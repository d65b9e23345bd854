// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing {

/// Speaks TLS in front of a port of 127.0.0.1 that does not, such as a fault_proxy's.
///
/// Knows nothing of what it passes on. The end of a connection behind it ends the TLS stream, without
/// a word of TLS, as when a server or a network fails: OpenSSL does not write any more afterwards. A
/// client that sends no more can still be answered, and a reset is passed on as one. What stops behind
/// it (a black hole) stops here when its buffers are full; the handshake, however, is its own, and
/// succeeds whenever the port takes connections.
///
/// Runs on a thread of its own.
class tls_front {
public:
    /// What it speaks.
    enum class version : std::uint8_t { usual, only_1_1, only_1_2 };

    /// @throws std::runtime_error without `has_tls()`
    explicit tls_front(std::uint16_t behind, version spoken = version::usual);
    ~tls_front();
    tls_front(const tls_front&) = delete;
    tls_front& operator=(const tls_front&) = delete;

    std::uint16_t port() const;

    /// "127.0.0.1:port"
    std::string hosts() const;

    /// For which server (SNI) each client asked whose handshake has succeeded, in order; empty where it
    /// named none. May be called from any thread.
    std::vector<std::string> names() const;

    /// What a client needs to connect; the same for all of this process.
    static tls_options trusted();

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace corozk::testing
