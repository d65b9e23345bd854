// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_list.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace corozk::bench {

/// The server cannot be asked; the text says why.
class server_silent : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The server does not allow the word: its setting 4lw.commands.whitelist.
class word_refused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Some million watches.
inline constexpr std::size_t longest_answer = std::size_t{256} << 20;

/// The answer to one of the four-letter words.
/// @throws server_silent, also if the answer is longer; word_refused
boost::asio::awaitable<std::string> ask_server(server_address server,
                                               std::string word,
                                               std::chrono::seconds limit,
                                               std::size_t longest = longest_answer);

}  // namespace corozk::bench
