// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace corozk::detail {

/// What the files of TLS options contain.
struct tls_files {
    /// By file: what distinguishes its content from another one.
    using states = std::map<std::string, std::array<std::int64_t, 6>>;

    states found;
    bool changed = false;  ///< if not, nothing below is set

    std::string authorities;  ///< PEM, as the next two
    std::string certificate;
    std::string key;
    std::string system_authorities;  ///< what the machine trusts, as far as it is in one file
    std::string problem;             ///< why they cannot be used

    /// What has come out of pipes, by their names: a pipe can be read once.
    std::map<std::string, std::string> piped;
};

/// Where the machine has the authorities that it trusts; empty: nowhere.
struct system_trust {
    std::string file;
    std::string folder;
    bool chosen = false;  ///< by the environment
};

/// Reads the files. It uses no OpenSSL, which a detached thread must not: the process may end, or
/// fork, at any moment.
class tls_file_reader {
public:
    tls_file_reader(tls_options options, system_trust system)
        : options_(std::move(options)), system_(std::move(system)) {}

    /// What was used: if nothing has changed since, nothing is read.
    std::optional<tls_files::states> known;

    std::map<std::string, std::string> piped;  ///< so far

    tls_files read() const noexcept;

private:
    tls_files::states look_at_files() const;
    void read(tls_files& files) const;

    tls_options options_;
    system_trust system_;
};

/// The part of a PEM text from `at` on with the next certificates, at most so many of them. Moves `at`
/// behind it. @return empty if there are no more
std::string_view next_certificates(std::string_view text, std::size_t& at, int most);

}  // namespace corozk::detail
