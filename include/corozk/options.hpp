// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/asio_settings.hpp>
#include <corozk/logger.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boost::asio::ssl {
class context;
}

namespace corozk {

/** @brief Credentials for `client::add_auth`, such as scheme "digest" with "user:password". */
struct auth_info {
    auth_info() = default;
    auth_info(std::string scheme_, std::string credential_)
        : scheme(std::move(scheme_)), credential(std::move(credential_)) {}

    std::string scheme;      ///< Such as "digest".
    std::string credential;  ///< Such as "user:password".
};

/**
 * @brief TLS settings (see `has_tls`).
 *
 * The server's certificate must be signed by a trusted authority and must be valid for the name
 * that the host list gives for the server (or for its address, if the host list gives that). Names
 * found by reverse look-up are never used. TLS 1.2 is the lowest version accepted.
 *
 * Each certificate or key is given either as a PEM file or as a PEM text. Files are read again for
 * the next connection after they have changed. If they cannot be used then, the previous ones
 * stay in use, and the reason is logged. What comes out of a pipe is read once, and kept.
 */
struct tls_options {
    tls_options() = default;

    std::string ca_file;              ///< The trusted certificate authorities.
    std::string ca_pem;               ///< The same, as a text.
    bool system_authorities = false;  ///< Also trust the authorities that this machine trusts.

    std::string certificate_file;  ///< The client's certificate and its chain; may be empty.
    std::string certificate_pem;   ///< The same, as a text.
    std::string key_file;          ///< The private key of the client's certificate.
    std::string key_pem;           ///< The same, as a text.
    std::string key_password;      ///< The key's password; may be empty.

    /// The name that every server's certificate must be valid for. Empty means the server's name in
    /// the host list, or any of its names if the list has several.
    std::string server_name;

    /// If set, this (client-side) context is used as is, and the files, texts and authorities above
    /// are ignored. Certificates, names and the version of TLS are checked nevertheless.
    std::shared_ptr<boost::asio::ssl::context> context;
};

/**
 * @brief SASL settings (see `has_sasl`).
 *
 * Access control lists refer to the client as "sasl:user". Cyrus SASL authenticates each
 * connection, within the time for it (`client_options::connect_timeout`).
 *
 * Cyrus SASL may block: it looks up this machine's name and reads files, and GSSAPI asks the
 * Kerberos servers. It therefore runs on detached threads, one for each step of an authentication,
 * for which neither `close` nor a destructor nor the end of the process waits.
 */
struct sasl_options {
    sasl_options() = default;
    sasl_options(std::string user_, std::string password_file_)
        : user(std::move(user_)), password_file(std::move(password_file_)) {}

    std::string user;  ///< Empty if the mechanism needs no user name (GSSAPI).

    /// The file whose first line is the password, read for each connection. Empty if not needed.
    std::string password_file;

    /// The mechanisms, separated by spaces: DIGEST-MD5 or GSSAPI, the only ones that ZooKeeper's
    /// servers know. The first one that is installed and for which this side has credentials is
    /// used. At least one must be installed.
    std::string mechanisms = "DIGEST-MD5";

    /// The service name of the servers' principal.
    std::string service = "zookeeper";

    /// The host name of the servers' principal. Every ZooKeeper server accepts the default for
    /// DIGEST-MD5. Empty means the server's first name in `client_options::hosts`.
    std::string host = "zk-sasl-md5";

    /// For DIGEST-MD5, of a server that offers several realms. ZooKeeper's servers offer one, which
    /// is used in any case. Empty means the first.
    std::string realm;
};

/** @brief Which protocol operations the client may send. */
enum class server_dialect : std::uint8_t {
    /// All of them. The client detects that a server does not know one: by its error, or because it
    /// closes two connections in a row instead of responding. Until then requests fail with
    /// `zk_errc::connection_loss`; afterwards the client uses a substitute, as below. With
    /// ClickHouse Keeper, which closes the connection without a response to the closing request,
    /// `close` ends with `errc::session_left_to_expire`.
    automatic,

    /// Those of ZooKeeper 3.4, which ClickHouse Keeper and RaftKeeper know, too. Containers become
    /// persistent nodes, the `stat` of a created node has no times (`ctime` and `mtime` are 0), and
    /// watches that are no longer awaited remain at the server until they fire or the connection
    /// ends. Newer operations fail with `zk_errc::unimplemented` without being sent: TTLs,
    /// `add_watch`, `read_all`, `get_ephemerals`, `count_descendants`, `who_am_i`, `reconfigure`. The
    /// end of the connection counts as the confirmation of `close`.
    zookeeper_3_4,
};

/**
 * @brief What identifies a session to the servers: see `client::credentials`.
 *
 * A secret: any client that has it can continue the session, and end it.
 */
struct session_credentials {
    session_credentials() = default;
    session_credentials(std::int64_t id_, std::string password_)
        : id(id_), password(std::move(password_)) {}

    std::int64_t id = 0;   ///< `session_status::session_id`; 0: none.
    std::string password;  ///< 16 bytes, made by the servers.
};

/** @brief The options of a client. Every member except `hosts` has a default. */
struct client_options {
    client_options() = default;
    explicit client_options(std::string hosts_) : hosts(std::move(hosts_)) {}

    /// "a:2181,b:2181,[::1]:2181", optionally followed by the path that becomes this client's root
    /// ("a:2181/app"). The default port is 2181. IPv6 addresses are put in brackets, link-local
    /// ones with their interface ("[fe80::1%eth0]:2181"). Names are resolved asynchronously for
    /// each connection attempt; all addresses of a name are tried, in random order.
    std::string hosts;

    /// The session timeout to request; the server may adjust it (by default to between 2 and 20
    /// ticks). At least 100 ms and at most 10 days.
    std::chrono::milliseconds session_timeout{10'000};

    /// How long `connect` tries before it fails. 0 means no limit.
    std::chrono::milliseconds connect_timeout{10'000};

    /// How long an operation may wait to be sent while the client reconnects before it fails with
    /// `not_connected`. 0 means the session timeout. Does not apply to the first connection. For an
    /// operation that was queued before the connection was lost, the time counts from the loss.
    std::chrono::milliseconds queue_timeout{0};

    /// How long `close` waits for the responses in flight and then for the server's confirmation.
    /// After this time the request to end the session is sent, if it was not sent before, and the
    /// session is left to expire as far as this client knows. 0: `close` does not wait.
    std::chrono::milliseconds close_timeout{1'500};

    /// After session loss: start a new session (true), or close the client (false).
    bool renew_session = true;

    /// Continue this session, of a client that has left it (`client::leave_session`) or has
    /// crashed, with its ephemeral nodes but without its watches. If it has expired, or the
    /// password is wrong, the state becomes `session_state::lost`, and the client continues as
    /// after any loss (`renew_session`); what was started before fails with
    /// `zk_errc::session_expired`.
    ///
    /// Never continue it in two clients at once: they would disconnect each other repeatedly. The
    /// nodes of the previous client's locks, elections and other recipes remain, too, and are not
    /// released while the session lives.
    std::optional<session_credentials> session;

    /// Accept a server that is cut off from its quorum and serves reads only. Meanwhile the client
    /// looks for one with a quorum. With the local sessions that such servers may require
    /// (`localSessionsEnabled`), a session without ephemeral nodes is lost at each change of server.
    bool allow_read_only = false;

    /// Replace the host list, as `client::set_hosts` does, by the servers of the ensemble's
    /// configuration, at first and whenever that is changed. It must contain their addresses and
    /// ports for clients ("server.1=a:2888:3888;2181"), as clients reach them (with `tls`, by TLS),
    /// and must be readable. Local sessions are lost by a move (`client::set_hosts`).
    bool follow_reconfiguration = false;

    /// Credentials sent first on every new connection. Some servers require them
    /// (`zk_errc::session_closed_require_sasl_auth`).
    std::vector<auth_info> auth;

    /// Without `has_tls()`, `connect` fails with `not_supported`.
    std::optional<tls_options> tls;

    /// Without `has_sasl()`, `connect` fails with `not_supported`.
    std::optional<sasl_options> sasl;

    /// The destination of log messages.
    corozk::logger logger;

    /// The protocol operations that the client may send.
    server_dialect dialect = server_dialect::automatic;

    /// The largest request that the servers accept (their `jute.maxbuffer`), in bytes; at least
    /// 1,024. Responses may be larger; one of more than 64 MiB, or with more than 2,000,000 names,
    /// ends the connection.
    std::size_t max_request_size = 1'048'575;
};

}  // namespace corozk
