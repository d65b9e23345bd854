// SPDX-License-Identifier: Apache-2.0
#include "session/known_servers.hpp"

#include <corozk/error.hpp>

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

using boost::asio::ip::address;

/// The canonical form of an address.
address plain(const address& a) {
    if (a.is_v6() && a.to_v6().is_v4_mapped())
        return make_address_v4(boost::asio::ip::v4_mapped, a.to_v6());
    return a;
}

/// The address that a host is; none if it is a name, or lacks its network interface.
known_servers::addresses literal_of(const std::string& host, bool& is_name) {
    error_code problem;
    const address a = boost::asio::ip::make_address(host, problem);
    is_name = problem.failed();
    const bool lacks_interface =
        a.is_v6() && a.to_v6().is_link_local() && a.to_v6().scope_id() == 0;
    return is_name || lacks_interface ? known_servers::addresses() : known_servers::addresses{a};
}

}  // namespace

known_servers::known_servers(host_list hosts) {
    replace(std::move(hosts));
}

void known_servers::replace(host_list hosts) {
    stop();
    host_list before = std::exchange(hosts_, std::move(hosts));
    auto known = std::exchange(known_, std::vector<known_host>(hosts_.hosts.size()));
    for (std::size_t i = 0; i < size(); ++i) {
        auto same = [&](const host& h) { return h.name == name(i); };
        auto at = std::find_if(before.hosts.begin(), before.hosts.end(), same);
        if (at != before.hosts.end()) {
            known_[i] = known[static_cast<std::size_t>(at - before.hosts.begin())];
            continue;
        }
        bool is_name = false;
        known_[i].found = literal_of(name(i), is_name);
        if (!is_name)
            known_[i].lookup = lookup::literal;
    }
}

bool known_servers::refresh(std::size_t host) {
    lookup& state = known_[host].lookup;
    // Its interface may be there by now, or another one of that name.
    bool is_name = true;
    if (state == lookup::literal)
        known_[host].found = literal_of(name(host), is_name);
    if (state == lookup::due)
        state = lookup::wanted;
    bool usable = state == lookup::literal || state == lookup::fresh;
    if (state == lookup::fresh)
        state = lookup::due;
    return usable;
}

void known_servers::want_lookups(bool all) noexcept {
    for (known_host& h : known_) {
        if (h.lookup == lookup::due && (all || h.found.empty()))
            h.lookup = lookup::wanted;
    }
}

std::optional<std::size_t> known_servers::take_wanted() noexcept {
    for (std::size_t i = 0; i < size(); ++i) {
        if (known_[i].lookup == lookup::wanted) {
            known_[i].lookup = lookup::under_way;
            return i;
        }
    }
    return std::nullopt;
}

bool known_servers::looking_up(std::size_t host) const noexcept {
    return known_[host].lookup == lookup::under_way;
}

bool known_servers::looking_up() const noexcept {
    return std::any_of(known_.begin(), known_.end(), [](const known_host& h) {
        return h.lookup == lookup::under_way || h.lookup == lookup::wanted;
    });
}

void known_servers::resolved(std::size_t host, bool used, addresses found) {
    known_[host].lookup = used ? lookup::due : lookup::fresh;
    known_[host].found = std::move(found);
}

void known_servers::failed(std::size_t host) noexcept {
    known_[host].lookup = lookup::due;
}

void known_servers::stop() noexcept {
    for (known_host& h : known_) {
        if (h.lookup != lookup::literal)
            h.lookup = lookup::due;
    }
}

bool known_servers::lacks_interface(std::size_t host) const noexcept {
    return known_[host].lookup == lookup::literal && known_[host].found.empty();
}

std::vector<known_servers::endpoint> known_servers::servers(std::size_t host) const {
    std::vector<endpoint> result;
    for (const address& a : known_[host].found)
        result.emplace_back(plain(a), hosts_.hosts[host].port);
    return result;
}

std::vector<known_servers::endpoint> known_servers::servers() const {
    std::vector<endpoint> result;
    for (std::size_t i = 0; i < size(); ++i) {
        for (const endpoint& server : servers(i)) {
            if (std::find(result.begin(), result.end(), server) == result.end())
                result.push_back(server);
        }
    }
    return result;
}

std::vector<host> known_servers::unresolved() const {
    std::vector<host> result;
    for (std::size_t i = 0; i < size(); ++i) {
        const bool unknown = known_[i].lookup != lookup::literal && known_[i].found.empty();
        const host& h = hosts_.hosts[i];
        if (unknown && std::find(result.begin(), result.end(), h) == result.end())
            result.push_back(h);
    }
    return result;
}

std::vector<known_servers::endpoint> known_servers::servers_of(const host& h) const {
    const auto at = std::find(hosts_.hosts.begin(), hosts_.hosts.end(), h);
    if (at == hosts_.hosts.end())
        return {};
    return servers(static_cast<std::size_t>(at - hosts_.hosts.begin()));
}

bool known_servers::knows(const endpoint& server) const {
    const std::vector<endpoint> all = servers();
    return std::find(all.begin(), all.end(), server) != all.end();
}

std::vector<std::string> known_servers::names_of(const endpoint& server) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < size(); ++i) {
        const std::vector<endpoint> those = servers(i);
        if (std::find(those.begin(), those.end(), server) != those.end())
            names.push_back(name(i));
    }
    if (names.empty())
        names.push_back(server.address().to_string());
    return names;
}

}  // namespace corozk::detail
