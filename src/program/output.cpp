// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "exit_code.hpp"
#include "interruption.hpp"
#include "words.hpp"
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace corozk::program {

namespace {

void write_line(std::FILE* to, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), to);
    if (text.empty() || text.back() != '\n')
        std::fputc('\n', to);
    std::fflush(to);
}

int code_for(const error_code& ec) {
    if (ec == errc::would_block || ec == errc::deadline_exceeded || ec == errc::would_deadlock)
        return not_acquired;
    if (ec == zk_errc::no_auth || ec == zk_errc::auth_failed)
        return no_permission;
    if (ec == errc::ownership_lost)
        return ownership_was_lost;
    if (ec == errc::no_server || ec == errc::host_not_found || ec == errc::server_silent ||
        ec == errc::not_connected || ec == errc::closed || ec == errc::chroot_missing ||
        is_recoverable(ec) || is_session_lost(ec))
        return no_connection;
    if (ec == errc::bad_path || ec == errc::bad_option || ec == errc::bad_host_list)
        return bad_usage;
    return failed;
}

}  // namespace

void output::result(std::string_view text, const boost::json::value& value) const {
    if (json_)
        return write_line(stdout, boost::json::serialize(value));
    write_line(stdout, text);
}

void output::event(std::string_view text, const boost::json::object& value) const {
    if (json_)
        return write_line(stderr, boost::json::serialize(value));
    write_line(stderr, fmt::format("corozk: {}", text));
}

void complain(std::string_view text, bool json) {
    boost::json::object value;
    value["event"] = "error";
    value["message"] = boost::json::string(text);
    output(json).event(text, value);
}

int complain_about(std::exception_ptr failure, bool json) {
    try {
        std::rethrow_exception(failure);
    } catch (const interrupted& i) {
        return by_signal + i.signal;
    } catch (const bad_word& e) {
        complain(e.what(), json);
        return bad_usage;
    } catch (const boost::system::system_error& e) {
        complain(e.what(), json);
        return code_for(e.code());
    } catch (const std::exception& e) {
        complain(e.what(), json);
        return failed;
    }
}

std::string session_name(std::int64_t id) {
    return fmt::format("0x{:x}", static_cast<std::uint64_t>(id));
}

std::string utc(std::chrono::system_clock::time_point when) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
}

std::string age(std::chrono::system_clock::duration since) {
    auto seconds =
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(since).count());
    if (seconds < 60)
        return fmt::format("{}s", seconds);
    if (seconds < 3600)
        return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = ' ';
    }
    return result;
}

}  // namespace corozk::program
