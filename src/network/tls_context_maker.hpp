// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/tls_files.hpp"
#include <corozk/options.hpp>

#include <boost/asio/ssl/context.hpp>

#include <cstddef>
#include <memory>

namespace corozk::detail {

/// Where OpenSSL looks for the authorities that the machine trusts.
system_trust trust_of_system();

/// Makes a TLS context in steps, none of which takes more than a few milliseconds: a file may have
/// more than a hundred authorities.
class tls_context_maker {
public:
    tls_context_maker(const tls_options& options, tls_files files);

    /// @return null until the last step. @throws std::runtime_error if it cannot be made
    std::shared_ptr<boost::asio::ssl::context> step();

private:
    void begin();
    bool add_authorities();
    void finish();

    const tls_options& options_;
    tls_files files_;
    std::shared_ptr<boost::asio::ssl::context> made_;
    std::size_t added_ = 0;         ///< of the text with authorities
    std::size_t added_system_ = 0;  ///< of that with the system's
};

}  // namespace corozk::detail
