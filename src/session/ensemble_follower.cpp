// SPDX-License-Identifier: Apache-2.0
#include "session/ensemble_follower.hpp"

#include "driver/request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace corozk::detail {

namespace {

/// Splits a text at the last ':': "[::1]:2181", "0:0:0:0:0:0:0:0:2181", "2181".
struct client_address {
    explicit client_address(std::string_view text) {
        std::size_t colon = text.rfind(':');
        if (colon != text.npos)
            host = text.substr(0, colon);
        port = text.substr(colon == text.npos ? 0 : colon + 1);
        if (host.starts_with('[') && host.ends_with(']'))
            host = host.substr(1, host.size() - 2);
    }

    /// Clients are accepted at every address of the server.
    bool any() const noexcept {
        return host.empty() || host == "0.0.0.0" || host.find_first_not_of("0:") == host.npos;
    }

    std::string_view host;
    std::string_view port;
};

/// The host of a server's first address: "a:2888:3888:participant", "[::1]:2888:3888|...".
std::string_view first_host(std::string_view text) {
    if (text.starts_with('['))
        return text.substr(1, std::min(text.find(']'), text.size()) - 1);
    return text.substr(0, text.find(':'));
}

/// "a:2181", or empty if clients are not told how to reach the server.
std::string client_host(std::string_view server) {
    std::size_t semicolon = server.find(';');
    if (semicolon == server.npos)
        return {};
    client_address address(server.substr(semicolon + 1));
    std::string host(address.any() ? first_host(server.substr(0, semicolon)) : address.host);
    if (host.find(':') != host.npos)
        host = "[" + host + "]";
    return host.empty() || address.port.empty() ? "" : host + ":" + std::string(address.port);
}

}  // namespace

client_configuration parse_configuration(std::string_view text) {
    client_configuration result;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        std::size_t equals = line.find('=');
        if (equals == line.npos)
            continue;
        std::string_view value = line.substr(equals + 1);
        if (line.starts_with("server.")) {
            std::string host = client_host(value);
            if (!host.empty())
                result.hosts += (result.hosts.empty() ? "" : ",") + host;
        } else if (line.substr(0, equals) == "version") {
            std::from_chars(value.data(), value.data() + value.size(), result.version, 16);
        }
    }
    return result;
}

void ensemble_follower::connected() {
    if (port_.status().generation != generation_)
        version_ = -1;
    generation_ = port_.status().generation;
    if (!armed() && !arming())
        read();
}

void ensemble_follower::read() {
    auto finished = [this](operation& op) {
        if (!op.error)
            return take(op.answer);
        if (op.error == zk_errc::throttled)
            return read();
        // If it was the connection, it is read on the next one.
        if (!is_recoverable(op.error) && !is_session_lost(op.error) &&
            op.error != errc::not_connected)
            port_.report(log_level::warning,
                         "cannot read the ensemble's configuration: ",
                         op.error.message());
    };
    operation& op = make_detached(op_code::get_config, "/zookeeper/config", finished);
    op.attach(*this);
    port_.start(op);
}

void ensemble_follower::take(std::string_view text) {
    client_configuration configuration = parse_configuration(text);
    // A server may lag behind the one that the client was connected to before.
    if (configuration.version <= version_)
        return;
    version_ = configuration.version;
    if (configuration.hosts.empty())
        return port_.log(log_level::warning,
                         "the ensemble's configuration has no addresses for clients");
    // What was set by hand holds until it changes, also in the next session.
    if (std::exchange(hosts_, configuration.hosts) != configuration.hosts)
        changed_(configuration.hosts);
}

}  // namespace corozk::detail
