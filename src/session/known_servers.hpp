// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/hosts.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// The servers of a host list, with the addresses of their names, as far as they are known.
///
/// Does no I/O. The owner carries out the look-ups returned by `take_wanted`.
class known_servers {
public:
    using endpoint = boost::asio::ip::tcp::endpoint;
    using addresses = std::vector<boost::asio::ip::address>;

    explicit known_servers(host_list hosts);

    /// The addresses of names in both lists stay known. Look-ups in progress are abandoned.
    void replace(host_list hosts);

    const host_list& hosts() const noexcept { return hosts_; }
    std::size_t size() const noexcept { return known_.size(); }
    const std::string& name(std::size_t host) const { return hosts_.hosts[host].name; }

    // Look-ups.
    /// For a new round of attempts, wants the look-up of a name, unless one is in progress or has
    /// ended since the last round. @return whether the known addresses are to be used
    bool refresh(std::size_t host);

    /// Wants the look-ups of all names, or of those without a known address.
    void want_lookups(bool all) noexcept;

    /// The next look-up to start.
    std::optional<std::size_t> take_wanted() noexcept;

    bool looking_up(std::size_t host) const noexcept;
    bool looking_up() const noexcept;  ///< any, or it is wanted

    /// The end of a look-up. @param used whether a round uses the result at once
    void resolved(std::size_t host, bool used, addresses found);
    void failed(std::size_t host) noexcept;

    /// Abandons the look-ups in progress.
    void stop() noexcept;

    // Servers.
    /// Whether the host is an address that cannot be used without a network interface.
    bool lacks_interface(std::size_t host) const noexcept;

    /// The known servers of one host, and of all, each once.
    std::vector<endpoint> servers(std::size_t host) const;
    std::vector<endpoint> servers() const;

    /// The hosts of which no address is known.
    std::vector<host> unresolved() const;

    /// The known servers of a host; none if it is not in the list.
    std::vector<endpoint> servers_of(const host& h) const;

    /// Whether it is a server of one of the hosts.
    bool knows(const endpoint& server) const;

    /// The names that the host list has for a known server; its address if there is none.
    std::vector<std::string> names_of(const endpoint& server) const;

private:
    struct known_host {
        known_host() = default;
        enum class lookup_type : std::uint8_t { literal, due, wanted, under_way, fresh };
        lookup_type lookup = lookup_type::due;
        addresses found;  ///< kept in case a look-up fails or takes long
    };
    using lookup = known_host::lookup_type;

    host_list hosts_;
    std::vector<known_host> known_;  ///< of each host
};

}  // namespace corozk::detail
