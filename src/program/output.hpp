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

/// What the program says: results on standard output, what happens on standard error. With --json
/// both are JSON, one value a line.
class output {
public:
    explicit output(bool json) noexcept : json_(json) {}

    bool json() const noexcept { return json_; }

    /// A result: the text as it is, or the value as a line. @throws as `print`
    void result(std::string_view text, const boost::json::value& value) const;

    /// Something that happened; the text gets the program's name before it. Nothing happens if it
    /// cannot be written.
    void event(std::string_view text, const boost::json::object& value) const;

private:
    bool json_;
};

/// Thrown when standard output does not take what was written.
class output_failure : public std::runtime_error {
public:
    explicit output_failure(int problem);
};

/// Writes to standard output, with a line's end. Where that has to wait for a reader, a signal ends
/// it. @throws output_failure, interrupted
void print(std::string_view text);

/// Says on standard error why nothing came of it.
void complain(std::string_view text, bool json);

/// The exit code for an exception, which is said as well.
int complain_about(std::exception_ptr failure, bool json);

/// "0x1000d3f0c0b0001", as the server writes it.
std::string session_name(std::int64_t id);

/// "2026-11-21T15:40:12Z"
std::string utc(std::chrono::system_clock::time_point when);

/// "12s", "3m05s", "2h07m"
std::string age(std::chrono::system_clock::duration since);

/// One line, without control characters: what others wrote must not drive the terminal.
std::string printable(std::string_view text);

}  // namespace corozk::program
