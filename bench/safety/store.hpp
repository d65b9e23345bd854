// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/ownership.hpp>

#include <boost/asio/awaitable.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace corozk::bench {

/// Where the data that the lock protects is, and what keeps a late owner's write away.
struct protection {
    std::string_view store;
    std::string_view guard;
    bool safe;  ///< whether no update may be lost

    std::string name() const;
};

/// Without a guard first: it shows that the experiment can fail.
inline constexpr std::array protections{
    protection{"file", "none", false},
    protection{"file", "valid", false},
    protection{"file", "token", true},
    protection{"znode", "none", false},
    protection{"znode", "commit", true},
};

/// @throws std::logic_error if there is none of this name
const protection& find_protection(std::string_view name);

enum class write_outcome { written, refused, unknown };

/// A text that is read and written as a whole.
class shared_text {
public:
    virtual ~shared_text() = default;

    virtual boost::asio::awaitable<std::string> read(ownership& held) = 0;
    virtual boost::asio::awaitable<write_outcome> write(ownership& held, std::string text) = 0;
};

/// @param path of a znode that exists, or of a file
std::unique_ptr<shared_text> open_text(const protection& p, client& c, std::string path);

/// What is in a file of ours, without a lock.
std::string text_of_file(const std::string& path);

}  // namespace corozk::bench
