// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/four_letter.hpp"

#include "corozk/testing/turn_clock.hpp"
#include "tcp_socket.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <functional>
#include <stdexcept>
#include <system_error>

namespace corozk::testing {
namespace {

constexpr std::string_view not_serving = "This ZooKeeper instance is not currently serving";

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& handle) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        handle(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
}

std::string serving(std::uint16_t port, std::string_view word, std::chrono::milliseconds limit) {
    std::string answer = four_letter(port, word, limit);
    if (answer.starts_with(not_serving)) {
        throw std::runtime_error{answer};
    }
    return answer;
}

/** Parses "0x1000..."; the number has the 64 bits of a session id. */
std::int64_t parse_session(std::string_view text) {
    if (text.starts_with("0x")) {
        text.remove_prefix(2);
    }
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return static_cast<std::int64_t>(value);
}

}  // namespace

std::string four_letter(std::uint16_t port,
                        std::string_view word,
                        std::chrono::milliseconds limit) {
    const aside not_the_loops;
    const auto until = detail::deadline_in(limit);
    detail::tcp_socket socket{port, until};
    socket.send(word, until);
    std::string answer;
    std::array<char, 65'536> chunk;  // NOLINT: filled by receive
    try {
        while (const auto got = socket.receive(chunk.data(), chunk.size(), until)) {
            answer.append(chunk.data(), got);
        }
    } catch (const std::system_error& error) {
        // The server closes at once after the answer, sometimes with a reset.
        if (error.code() != std::errc::connection_reset || answer.empty()) {
            throw;
        }
    }
    return answer;
}

std::map<std::string, std::string> mntr(std::uint16_t port, std::chrono::milliseconds limit) {
    const aside not_the_loops;
    std::map<std::string, std::string> result;
    for_each_line(serving(port, "mntr", limit), [&](std::string_view line) {
        if (const auto tab = line.find('\t'); tab != std::string_view::npos) {
            result.emplace(line.substr(0, tab), line.substr(tab + 1));
        }
    });
    return result;
}

std::int64_t mntr_value(std::uint16_t port,
                        const std::string& name,
                        std::chrono::milliseconds limit) {
    const auto all = mntr(port, limit);
    const auto found = all.find(name);
    std::int64_t value = 0;
    if (found == all.end() ||
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), value)
                .ec != std::errc{}) {
        throw std::runtime_error{"the server's mntr has no number " + name};
    }
    return value;
}

std::int64_t watch_count(std::uint16_t port) {
    return mntr_value(port, "zk_watch_count");
}

std::int64_t znode_count(std::uint16_t port) {
    return mntr_value(port, "zk_znode_count");
}

std::int64_t connection_count(std::uint16_t port) {
    return mntr_value(port, "zk_num_alive_connections") - 1;
}

std::int64_t packets_received(std::uint16_t port) {
    return mntr_value(port, "zk_packets_received");
}

std::int64_t packets_sent(std::uint16_t port) {
    return mntr_value(port, "zk_packets_sent");
}

std::map<std::string, std::int64_t> ephemerals(std::uint16_t port) {
    const aside not_the_loops;
    std::map<std::string, std::int64_t> result;
    bool in_section = false;
    std::int64_t owner = 0;
    for_each_line(serving(port, "dump", four_letter_limit), [&](std::string_view line) {
        if (line.starts_with("Sessions with Ephemerals")) {
            in_section = true;
        } else if (line.starts_with("Connections dump")) {
            in_section = false;
        } else if (in_section && line.starts_with("0x")) {
            owner = parse_session(line);
        } else if (in_section && line.starts_with("\t/")) {
            result.emplace(line.substr(1), owner);
        }
    });
    return result;
}

std::map<std::string, std::set<std::int64_t>> watches_by_path(std::uint16_t port) {
    const aside not_the_loops;
    std::map<std::string, std::set<std::int64_t>> result;
    std::string path;
    for_each_line(serving(port, "wchp", four_letter_limit), [&](std::string_view line) {
        if (line.starts_with('/')) {
            path = line;
        } else if (line.starts_with("\t0x")) {
            result[path].insert(parse_session(line.substr(1)));
        }
    });
    return result;
}

std::map<std::int64_t, std::set<std::string>> watches_by_session(std::uint16_t port) {
    const aside not_the_loops;
    std::map<std::int64_t, std::set<std::string>> result;
    std::int64_t session = 0;
    for_each_line(serving(port, "wchc", four_letter_limit), [&](std::string_view line) {
        if (line.starts_with("0x")) {
            session = parse_session(line);
        } else if (line.starts_with("\t/")) {
            result[session].emplace(line.substr(1));
        }
    });
    return result;
}

std::size_t watches_below(std::uint16_t port, const std::string& path) {
    const aside not_the_loops;
    std::size_t count = 0;
    for (const auto& [watched, sessions] : watches_by_path(port)) {
        if (watched == path || watched.starts_with(path + "/")) {
            count += sessions.size();
        }
    }
    return count;
}

std::string server_mode(std::uint16_t port, std::chrono::milliseconds limit) {
    std::string mode;
    for_each_line(four_letter(port, "srvr", limit), [&](std::string_view line) {
        constexpr std::string_view label = "Mode: ";
        if (line.starts_with(label)) {
            mode = line.substr(label.size());
        }
    });
    return mode;
}

}  // namespace corozk::testing
