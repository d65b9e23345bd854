// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "exit_code.hpp"
#include "interruption.hpp"
#include "json_text.hpp"
#include "words.hpp"
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

namespace {

/// A signal that asks us to end and that nobody has read yet: 0 if there is none.
int waiting_signal() noexcept {
    sigset_t pending;
    ::sigpending(&pending);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        if (::sigismember(&pending, number) == 1)
            return number;
    }
    return 0;
}

/// In pieces that a pipe takes whole, so that a reader who does not read holds nothing up.
/// @return errno, or 0; EAGAIN if it cannot be written now and `wait` says no
template <class Wait>
int write_all(int fd, std::string_view text, Wait wait) {
    while (!text.empty()) {
        pollfd writable{fd, POLLOUT, 0};
        if (::poll(&writable, 1, 100) == 0) {
            if (!wait())
                return EAGAIN;
            continue;
        }
        ssize_t n = ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    return 0;
}

std::string line_of(std::string_view text) {
    std::string line(text);
    if (line.empty() || line.back() != '\n')
        line += '\n';
    return line;
}

std::string serialized(boost::json::value value) {
    make_valid(value);
    return boost::json::serialize(value);
}

/// What the library says in words of its own that are not those of the command line.
const char* words_for(const error_code& ec) noexcept {
    if (ec == zk_errc::no_auth)
        return "not allowed: the node's access control list forbids it; authenticate with --auth "
               "or "
               "--auth-file, or have the list changed";
    if (ec == zk_errc::session_closed_require_sasl_auth)
        return "the server serves nobody without credentials of a scheme that it demands: give "
               "them with --auth, --auth-file or --sasl-user";
    if (ec == zk_errc::invalid_acl)
        return "invalid access control list: --acl names a scheme or an id that the server does "
               "not "
               "know, or says 'creator' without --auth";
    if (ec == errc::limit_mismatch)
        return "the others use another --limit or --bound: say the same one (or change it for all, "
               "with semaphore --change-limit)";
    if (ec == errc::too_large)
        return "too large for one request: raise jute.maxbuffer at the servers, or split it";
    if (ec == errc::bad_path)
        return "this cannot be done at this path: begin with '/', and name a folder of its own";
    if (ec == errc::not_connected)
        return "no connection to a server within the time allowed";
    return nullptr;
}

/// "lock.acquire /a: ..." without the name of the library's operation.
std::string explain(const boost::system::system_error& e) {
    const char* own = words_for(e.code());
    std::string message = own ? std::string(own) : e.code().message();
    std::string where;
    if (const auto* ours = dynamic_cast<const error*>(&e)) {
        bool call = ours->operation().find_first_of("._") != std::string::npos;
        where = call ? ours->path() : fmt::format("{} {}", ours->operation(), ours->path());
    } else if (own) {
        where = e.what();
        auto text = where.rfind(e.code().message());
        where.resize(text == std::string::npos ? 0 : text);
    } else {
        return e.what();
    }
    while (!where.empty() && (where.back() == ' ' || where.back() == ':'))
        where.pop_back();
    return where.empty() ? message : where + ": " + message;
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
    print(json_ ? serialized(value) : std::string(text));
}

void output::event(std::string_view text, const boost::json::object& value) const {
    std::string line = line_of(json_ ? serialized(value) : fmt::format("corozk: {}", text));
    // What it tells of matters more than that somebody reads it.
    static_cast<void>(write_all(STDERR_FILENO, line, [] { return false; }));
}

void print(std::string_view text) {
    int problem = write_all(STDOUT_FILENO, line_of(text), [] { return waiting_signal() == 0; });
    if (problem == EAGAIN)
        throw interrupted{waiting_signal()};
    if (problem != 0)
        throw output_failure(problem);
}

output_failure::output_failure(int problem)
    : runtime_error(fmt::format("cannot write to standard output: {}",
                                std::error_code(problem, std::generic_category()).message())) {}

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
    } catch (const output_failure& e) {
        complain(e.what(), json);
        return output_failed;
    } catch (const boost::system::system_error& e) {
        complain(explain(e), json);
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
