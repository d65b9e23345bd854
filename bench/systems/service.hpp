// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/testing/process_guard.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// Another program took a server's port between our choosing it and the server's binding it.
class port_taken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A server of another system. Its process ends with this object.
class service {
public:
    /// @param folder for its log, which exists; its working directory
    service(std::vector<std::string> command, std::filesystem::path folder);

    /// Waits until its log has this text. What answers on the port could be somebody else.
    /// @throws port_taken, interrupted; std::runtime_error with the end of the log
    void wait_until_says(std::string_view text);

private:
    std::string log() const;

    std::string name_;
    std::filesystem::path log_path_;
    testing::process_guard process_;
};

/// Makes what has servers, with other ports if one of them was taken.
template <class Make>
auto with_free_ports(Make make) {
    constexpr int attempts = 5;
    for (int attempt = 1; attempt < attempts; ++attempt) {
        try {
            return make();
        } catch (const port_taken&) {
        }
    }
    return make();
}

/// Where a program is: in PATH, or where Debian's packages put it; empty if it is not installed.
std::string find_installed(std::string_view program);

/// What follows a word on the first lines that `PROGRAM --version` prints, up to a space.
std::string version_after(const std::string& program, std::string_view word);

}  // namespace corozk::bench
