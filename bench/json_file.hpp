// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "stage.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// Where the figures go, besides the table: an array with an object per row. Each one says what it
/// was measured with ("run"), so that rows of several files can be put together.
class json_file {
public:
    /// Fails at once if the file cannot be written. An empty name: nothing is written.
    explicit json_file(std::string name);

    void write(std::string_view command,
               std::span<const std::string_view> words,
               const stage& on,
               const std::vector<result>& results);

private:
    std::string name_;
};

}  // namespace corozk::bench
