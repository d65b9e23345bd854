// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk::bench {

/// Data that no lock service knows of: a line with the largest token that has come, and the text.
class file_store {
public:
    /// @param check_token whether writes with a smaller token are refused
    file_store(std::string path, bool check_token)
        : path_(std::move(path)), check_token_(check_token) {}

    std::string read() const;

    /// @return whether it was written, or refused. @throws std::exception if it failed
    bool write(std::int64_t token, const std::string& text) const;

private:
    std::int64_t largest_token() const;

    std::string path_;
    bool check_token_;
};

}  // namespace corozk::bench
