// SPDX-License-Identifier: Apache-2.0
#include "network/tls_settings.hpp"

#include <exception>
#include <openssl/ssl.h>
#include <stdexcept>
#include <utility>

namespace corozk::detail {

bool tls_settings::needs_files() const noexcept {
    const bool files = !options_.ca_file.empty() || !options_.certificate_file.empty() ||
                       !options_.key_file.empty();
    return !options_.context && (files || (options_.system_authorities && !context_));
}

tls_file_reader tls_settings::reader() const {
    tls_file_reader reader(options_, trust_of_system());
    if (context_)
        reader.known = used_;
    reader.piped = piped_;
    return reader;
}

void tls_settings::use(tls_files files) {
    problem_.clear();
    maker_.reset();
    found_ = std::move(files.found);
    next_piped_ = std::move(files.piped);
    if (!context_ || files.changed)
        maker_.emplace(options_, std::move(files));
}

bool tls_settings::step() {
    if (!maker_)
        return true;
    try {
        check();
        auto made = options_.context ? options_.context : maker_->step();
        if (!made)
            return false;
        context_ = std::move(made);
        piped_ = std::move(next_piped_);
        used_ = std::move(found_);
        refused_.clear();
    } catch (const std::exception& e) {
        // A file that is being replaced: the connection is made with what was valid before.
        if (!context_ || found_ != refused_)
            problem_ = std::string("tls: ") + e.what();
        refused_ = std::move(found_);
    }
    maker_.reset();
    return true;
}

/// @throws std::runtime_error if no client can use the options
void tls_settings::check() const {
    if (options_.server_name.starts_with('.'))
        throw std::runtime_error("server_name must be the name of a server");
    if (options_.context &&
        SSL_CTX_get_ssl_method(options_.context->native_handle()) == TLS_server_method())
        throw std::runtime_error("the context was made for servers: use ssl::context::tls_client");
}

}  // namespace corozk::detail
