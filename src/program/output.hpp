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

/// Results go to standard output, events to standard error. With --json both are JSON, one value per
/// line.
class output {
public:
    explicit output(bool json) noexcept : json_(json) {}

    /// A result: the text as it is, or the value as a line. @throws as `print`
    void result(std::string_view text, const boost::json::value& value) const;

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

/// Reports an error on standard error.
void complain(std::string_view text, bool json);

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
