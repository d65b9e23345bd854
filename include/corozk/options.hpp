// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/asio_settings.hpp>
#include <corozk/logger.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace corozk {

/** @brief Credentials for `client::add_auth`, such as scheme "digest" with "user:password". */
struct auth_info {
    auth_info() = default;
    auth_info(std::string scheme_, std::string credential_)
        : scheme(std::move(scheme_)), credential(std::move(credential_)) {}

    std::string scheme;      ///< Such as "digest".
    std::string credential;  ///< Such as "user:password".
};

/** @brief TLS settings; needs a C client that was built with TLS (see `has_tls`). */
struct tls_options {
    tls_options() = default;
    std::string ca_file;           ///< Who may sign servers' certificates (PEM).
    std::string certificate_file;  ///< Ours (PEM).
    std::string key_file;          ///< Its key (PEM).
    std::string key_password;      ///< Of the key; may be empty.
};

/**
 * @brief SASL settings; needs a C client that was built with SASL (see `has_sasl`).
 *
 * The server then knows us as "sasl:user", which is what access control lists say. Cyrus SASL does the
 * work, on the client's thread, at each connection: DIGEST-MD5 computes, and GSSAPI asks the Kerberos
 * servers, for which the event loop waits.
 */
struct sasl_options {
    sasl_options() = default;
    sasl_options(std::string user_, std::string password_file_)
        : user(std::move(user_)), password_file(std::move(password_file_)) {}

    std::string user;  ///< Empty where the mechanism asks for none (GSSAPI).

    /// Its first line is the password; it is read at each connection. Empty as `user`.
    std::string password_file;

    /// To be tried, separated by spaces; the machine must have one of them.
    std::string mechanisms = "DIGEST-MD5";

    /// What the servers are registered as.
    std::string service = "zookeeper";

    /// Likewise; every ZooKeeper server takes this one for DIGEST-MD5. Empty means the address of the
    /// server.
    std::string host = "zk-sasl-md5";

    /// Empty means the server's.
    std::string realm;
};

/** @brief How a client connects. Every member has a default except `hosts`. */
struct client_options {
    client_options() = default;
    explicit client_options(std::string hosts_) : hosts(std::move(hosts_)) {}

    /// "a:2181,b:2181,[::1]:2181", optionally followed by a folder that becomes the root for this
    /// client ("a:2181/app"). A missing port means 2181. IPv6 addresses stand in brackets, link-local
    /// ones with their interface ("[fe80::1%eth0]:2181"). Names are resolved without blocking, again
    /// at every reconnect; all addresses of a name are tried, in random order.
    std::string hosts;

    /// Asked of the server, which answers with what it grants (2 to 20 ticks by default). At least
    /// 100 ms.
    std::chrono::milliseconds session_timeout{10'000};

    /// How long `connect` tries before it fails. 0 means for ever.
    std::chrono::milliseconds connect_timeout{10'000};

    /// How long an operation may wait for the next connection before it fails with `not_connected`
    /// (it has not been sent then). 0 means the session timeout. The first connection is waited for
    /// as long as the client tries.
    std::chrono::milliseconds queue_timeout{0};

    /// How long `close` waits for the server's word before the session is left to expire.
    std::chrono::milliseconds close_timeout{1'500};

    /// After the session was lost: begin a new one (true), or close the client (false).
    bool renew_session = true;

    /// Accept a server that is cut off from its quorum; it serves reads only.
    bool allow_read_only = false;

    /// Sent on every new session before anything else. Some servers serve nobody without
    /// (`zk_errc::session_closed_require_sasl_auth`).
    std::vector<auth_info> auth;

    /// Needs `has_tls()`; otherwise `connect` fails with `not_supported`.
    std::optional<tls_options> tls;

    /// Needs `has_sasl()`; otherwise `connect` fails with `not_supported`. The C client cannot do it
    /// together with TLS (`bad_option`).
    std::optional<sasl_options> sasl;

    /// Where log lines go.
    corozk::logger logger;

    /// The largest request the servers accept (their `jute.maxbuffer`). Bytes.
    std::size_t max_request_size = 1'048'575;
};

}  // namespace corozk
