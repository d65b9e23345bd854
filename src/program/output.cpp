// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "interruption.hpp"
#include "json_text.hpp"
#include "words.hpp"
#include <corozk/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace corozk::program {

namespace {

/// Writes in pieces that a pipe accepts whole, so that a reader that does not read blocks nothing.
/// @return errno, or 0; EAGAIN if it cannot be written now and `wait` returns false
template <class Wait>
int write_all(int fd, std::string_view text, Wait wait) {
    while (!text.empty()) {
        pollfd writable{fd, POLLOUT, 0};
        int ready = ::poll(&writable, 1, 100);
        if (ready == 0 && !wait())
            return EAGAIN;
        if (ready <= 0)
            continue;
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

/// What others wrote, or were given as words, must not control the terminal.
std::string escaped(std::string_view text) {
    const bool valid = is_utf8(text);
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto byte = static_cast<unsigned char>(text[i]);
        // U+0080 to U+009F: of two bytes
        const bool high = valid && byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if (high)
            byte = static_cast<unsigned char>(text[++i]);
        if (high || byte < 0x20 || byte == 0x7f || (!valid && byte >= 0x80))
            result += fmt::format("\\x{:02x}", byte);
        else
            result += static_cast<char>(byte);
    }
    return result;
}

std::string serialized(boost::json::value value) {
    make_valid(value);
    return boost::json::serialize(value);
}

/// What an error of one of the library's operations means to this program's user.
struct meaning {
    errc problem;
    std::string_view operation;  ///< it begins with this
    const char* text;
};

constexpr const char* still_held = "still held by others";

constexpr meaning meanings[] = {
    {errc::limit_mismatch, "queue.", "other producers use another --bound: use the same one"},
    {errc::limit_mismatch,
     "semaphore.",
     "other clients use another --limit: use the same one, or change it with --change-limit"},
    {errc::limit_mismatch,
     "double_barrier.",
     "other members use another --count: use the same one"},
    {errc::deadline_exceeded, "lock.", still_held},
    {errc::deadline_exceeded, "shared_lock.", still_held},
    {errc::deadline_exceeded, "priority_lock.", still_held},
    {errc::deadline_exceeded, "semaphore.", still_held},
    {errc::deadline_exceeded, "election.", still_held},
    {errc::deadline_exceeded, "barrier.", "still set"},
    {errc::deadline_exceeded,
     "double_barrier.",
     "too few members came in time, or the last round has not ended"},
    {errc::deadline_exceeded, "", "no server responded in time"},  // it waits for no other client
};

/// Messages in terms of the command line, in place of the library's.
const char* message_for(const error_code& ec, std::string_view operation) noexcept {
    for (const meaning& m : meanings) {
        if (ec == m.problem && operation.starts_with(m.operation))
            return m.text;
    }
    if (ec == zk_errc::no_auth)
        return "denied by the znode's access control list; authenticate with --auth, "
               "--auth-file or --sasl-user";
    if (ec == zk_errc::session_closed_require_sasl_auth)
        return "the server requires authentication: use --auth, --auth-file or --sasl-user";
    if (ec == zk_errc::invalid_acl)
        return "invalid access control list: --acl has a scheme or id that the server does not "
               "know, or is 'creator' without --auth";
    if (ec == errc::too_large)
        return "too large for one request: increase jute.maxbuffer at the servers, or split it";
    if (ec == errc::bad_path)
        return "not possible at this path: it must begin with '/', and not be the root";
    if (ec == errc::not_connected)
        return "no connection to a server in time";
    if (ec == zk_errc::session_expired)
        return "the session expired";
    return nullptr;
}

/// What the library's log calls options of the client, longer names first.
struct option_words {
    std::string_view library;
    std::string_view program;
};

constexpr option_words names_of_options[] = {
    {"ca_file, ca_pem or system_authorities", "--tls-ca or --tls-system-ca"},
    {"ca_file or ca_pem", "--tls-ca"},
    {"(ca_file, ca_pem)", "(--tls-ca)"},
    {"certificate_file and key_file", "--tls-cert and --tls-key"},
    {"(certificate_file, certificate_pem)", "(--tls-cert)"},
    {"(key_file, key_pem)", "(--tls-key)"},
    {"ca_file", "--tls-ca"},
    {"certificate_file", "--tls-cert"},
    {"key_file", "--tls-key"},
    {"key_password", "--tls-key-password"},
    {"system_authorities", "--tls-system-ca"},
    {"client_options::auth or sasl", "--auth, --auth-file or --sasl-user"},
    {"session_timeout", "--session-timeout"},
    {"connect_timeout", "--connect-timeout"},
    {"user and password_file", "--sasl-user and --sasl-password-file"},
    {"password_file", "--sasl-password-file"},
};

std::string& last_warning() {
    static std::string text;
    return text;
}

template <std::size_t Count>
bool starts_with_one_of(std::string_view line, const std::string_view (&beginnings)[Count]) {
    return std::any_of(std::begin(beginnings), std::end(beginnings), [line](std::string_view one) {
        return line.starts_with(one);
    });
}

bool refers_to_log(const error_code& ec) noexcept {
    return ec == errc::bad_option || ec == errc::bad_path || ec == errc::not_supported ||
           ec == errc::bad_host_list || ec == errc::chroot_missing;
}

/// Whether the last warning says more.
bool has_reasons(const error_code& ec) {
    if (ec == zk_errc::auth_failed)
        return last_warning().starts_with("SASL authentication failed");
    return (ec == errc::no_server || ec == errc::server_silent || ec == errc::host_not_found ||
            ec == errc::tls_failed) &&
           last_warning().starts_with("cannot connect to ");
}

/// "/a: ...", without the name of the library's operation.
std::string explain(const boost::system::system_error& e) {
    if (has_reasons(e.code()) || (refers_to_log(e.code()) && !last_warning().empty()))
        return last_warning();
    const auto* ours = dynamic_cast<const error*>(&e);
    if (!ours)
        return text_of(e.code());
    const char* own = message_for(e.code(), ours->operation());
    bool of_library = ours->operation().find_first_of("._") != std::string::npos;
    std::string where =
        of_library ? ours->path() : fmt::format("{} {}", ours->operation(), ours->path());
    while (where.ends_with(' '))
        where.pop_back();
    return fmt::format("{}{}{}", where, where.empty() ? "" : ": ", own ? own : e.code().message());
}

int code_for(const error_code& ec) {
    if (ec == errc::would_block || ec == errc::deadline_exceeded || ec == errc::would_deadlock)
        return not_acquired;
    if (ec == zk_errc::no_auth || ec == zk_errc::auth_failed ||
        ec == zk_errc::session_closed_require_sasl_auth)
        return no_permission;
    if (ec == errc::ownership_lost)
        return ownership_was_lost;
    if (ec == errc::no_server || ec == errc::host_not_found || ec == errc::server_silent ||
        ec == errc::tls_failed || ec == errc::not_connected || ec == errc::closed ||
        is_recoverable(ec) || is_session_lost(ec))
        return no_connection;
    if (ec == errc::bad_path || ec == errc::bad_option || ec == errc::bad_host_list)
        return bad_usage;
    return failed;
}

}  // namespace

int ending_signal() noexcept {
    if (interruption::asked_to_end_by() != 0)
        return interruption::asked_to_end_by();
    sigset_t pending;
    ::sigpending(&pending);
    for (int number : request_signals) {
        if (::sigismember(&pending, number) == 1)
            return number;
    }
    return 0;
}

void output::result(std::string_view text, const boost::json::value& value) const {
    print(json_ ? serialized(value) : std::string(text));
}

void output::event(const char* name,
                   std::string_view text,
                   const boost::json::object& members) const {
    boost::json::object value{{"event", name}};
    value.insert(members.begin(), members.end());
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    std::string line =
        line_of(json_ ? serialized(value) : fmt::format("corozk: {}", escaped(text)));
    // The event itself matters more than its report.
    static_cast<void>(write_all(STDERR_FILENO, line, [] { return false; }));
}

void output::bytes(std::string_view text, const boost::json::value& value) const {
    if (json_ || ::isatty(STDOUT_FILENO) == 1)
        result(text, value);
    else
        print_bytes(text);
}

void print_bytes(std::string_view text) {
    int problem = write_all(STDOUT_FILENO, text, [] { return ending_signal() == 0; });
    if (problem == EAGAIN)
        throw interrupted{ending_signal()};
    if (problem != 0)
        throw output_failure(problem);
}

void print_bytes_at_once(std::string_view text) noexcept {
    static_cast<void>(write_all(STDOUT_FILENO, text, [] { return false; }));
}

void print(std::string_view text) {
    print_bytes(line_of(text));
}

output_failure::output_failure(int problem)
    : runtime_error(fmt::format("cannot write to standard output: {}",
                                std::error_code(problem, std::generic_category()).message())) {}

void keep_warning(std::string_view text) {
    // After such an error others only follow from it.
    if (text.empty() || !explains_end(last_warning()))
        last_warning() = text;
}

bool explains_end(std::string_view line) noexcept {
    constexpr std::string_view beginnings[] = {"host list ",
                                               "bad option: ",
                                               "the parent znode ",
                                               "cannot connect to ",
                                               "authentication failed",
                                               "SASL authentication failed",
                                               "the server requires authentication"};
    return starts_with_one_of(line, beginnings);
}

bool tells_of_servers(std::string_view line) noexcept {
    constexpr std::string_view beginnings[] = {"there is still no connection to ",
                                               "the client stays at ",
                                               "tls: ",
                                               "cannot read the ensemble's configuration",
                                               "the ensemble's configuration has no "};
    return starts_with_one_of(line, beginnings);
}

std::string in_options(std::string_view line) {
    // Not in paths and names of files.
    auto is_apart = [](const std::string& text, std::size_t at) {
        constexpr std::string_view others = "_./-\"";
        return at >= text.size() || (std::isalnum(static_cast<unsigned char>(text[at])) == 0 &&
                                     others.find(text[at]) == std::string_view::npos);
    };
    std::string result(line);
    for (const auto& [library, program] : names_of_options) {
        for (auto at = result.find(library); at != std::string::npos;
             at = result.find(library, at + 1)) {
            if (is_apart(result, at - 1) && is_apart(result, at + library.size()))
                result.replace(at, library.size(), program);
        }
    }
    return result;
}

std::string text_of(const error_code& ec) {
    const char* own = message_for(ec, {});
    return own ? own : ec.message();
}

void complain(std::string_view text, bool json) {
    output(json).event("error", text, {{"message", text}});
}

std::string message_of(std::exception_ptr failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        return explain(e);
    } catch (const std::exception& e) {
        return e.what();
    }
}

int complain_about(std::exception_ptr failure, bool json) {
    int code = failed;
    try {
        std::rethrow_exception(failure);
    } catch (const interrupted& i) {
        return by_signal + i.signal;
    } catch (const usage_error&) {
        code = bad_usage;
    } catch (const output_failure&) {
        code = output_failed;
    } catch (const boost::system::system_error& e) {
        code = code_for(e.code());
    } catch (const std::exception&) {
        // has no code of its own
    }
    complain(message_of(failure), json);
    return code;
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
    std::string result = valid_text(text);
    bool led = false;
    for (char& c : result) {
        auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            c = ' ';
        // U+0080 to U+009F: of two bytes
        if (led && byte < 0xa0)
            c = '\xa0';  // a blank, too
        led = byte == 0xc2;
    }
    return result;
}

}  // namespace corozk::program
