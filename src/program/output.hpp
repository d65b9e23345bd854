// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace corozk::program {

/// Exit codes; those from 64 to 78 are sysexits.h's. A command that was run passes on its own: 128 and
/// the number of the signal if it was ended by one.
enum exit_code : int {
    done = 0,
    answer_is_no = 1,         ///< nothing there, not set, or deadlocks were found
    bad_usage = 64,           ///< usage error
    no_connection = 69,       ///< no server, or the connection or session was lost
    failed = 70,              ///< another error
    output_failed = 74,       ///< standard output cannot be written
    not_acquired = 75,        ///< --try, --deadline or queue peek: held by others, or nothing there
    no_permission = 77,       ///< denied by an ACL, or authentication failed
    ownership_was_lost = 79,  ///< ownership was lost, and the command was stopped
    cannot_run_command = 126,  ///< it cannot be executed
    no_such_command = 127,
    by_signal = 128  ///< and the number of the signal
};

/// Results go to standard output, events to standard error. With --json both are JSON, one value per
/// line.
class output {
public:
    explicit output(bool json) noexcept : json_(json) {}

    /// A result: the text as it is, or the value as a line. @throws as `print`
    void result(std::string_view text, const boost::json::value& value) const;

    /// The same, but the text is bytes, to which nothing is added (on a terminal: the end of the line).
    void bytes(std::string_view text, const boost::json::value& value) const;

    /// An event. The text is prefixed with the program's name; the value has the event's name and
    /// these members. A failure to write it is ignored.
    void event(const char* name,
               std::string_view text,
               const boost::json::object& members = {}) const;

private:
    bool json_;
};

/// Thrown if standard output cannot be written.
class output_failure : public std::runtime_error {
public:
    explicit output_failure(int problem);
};

/// Writes to standard output, and ends the line. A signal ends the wait for a slow reader.
/// @throws output_failure, interrupted
void print(std::string_view text);

/// The same, as it is: without an end of line.
void print_bytes(std::string_view text);

/// The same, unless it would have to wait, or fails.
void print_bytes_at_once(std::string_view text) noexcept;

/// Reports an error on standard error.
void complain(std::string_view text, bool json);

/// A line of the library's log, with this program's options in place of the library's.
std::string in_options(std::string_view line);

/// What an error of the library means to this program's user.
std::string text_of(const boost::system::error_code& ec);

/// A signal that asks this process to end, whether it was read before or is pending; 0 if there is none.
int ending_signal() noexcept;

/// Keeps the last warning of the library that was not shown: where it says more than the error,
/// the messages below contain it instead.
void keep_warning(std::string_view text);

/// Whether this line of the library's log is the reason why the program ends: a message below says it.
bool explains_end(std::string_view line) noexcept;

/// Whether this line says what is wrong with the servers, while the program goes on.
bool tells_of_servers(std::string_view line) noexcept;

/// Reports an exception. @return the exit code
int complain_about(std::exception_ptr failure, bool json);

std::string message_of(std::exception_ptr failure);

/// "0x1000d3f0c0b0001", as the server writes it.
std::string session_name(std::int64_t id);

/// "2026-11-21T15:40:12Z"
std::string utc(std::chrono::system_clock::time_point when);

/// "12s", "3m05s", "2h07m"
std::string age(std::chrono::system_clock::duration since);

/// One line, without control characters: other clients' data must not control the terminal.
std::string printable(std::string_view text);

}  // namespace corozk::program
