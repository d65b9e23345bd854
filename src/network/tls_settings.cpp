// SPDX-License-Identifier: Apache-2.0
#include "network/tls_settings.hpp"

#include <corozk/error.hpp>

#include <boost/asio/buffer.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace corozk::detail {

namespace {

namespace ssl = boost::asio::ssl;

/// A PEM text of the options: from memory, or the content of a file.
std::string pem_text(const char* option, const std::string& file, const std::string& text) {
    if (!file.empty() && !text.empty()) {
        throw std::runtime_error(std::string("set either ") + option + "_file or " + option +
                                 "_pem");
    }
    if (file.empty())
        return text;
    std::ifstream in(file, std::ios::binary);
    std::string why = in ? "" : std::strerror(errno);
    std::ostringstream content;
    std::error_code unknown;
    if (std::filesystem::is_directory(file, unknown))
        why = "it is a directory";
    else if (in)
        content << in.rdbuf();
    if (why.empty() && content.str().empty())
        why = "it is empty";
    if (!why.empty()) {
        throw std::runtime_error(std::string("cannot read ") + option + "_file \"" + file +
                                 "\": " + why);
    }
    return content.str();
}

/// The text of an option, which must be PEM or empty.
std::string pem(const char* option, const std::string& file, const std::string& text) {
    std::string found = pem_text(option, file, text);
    if (!found.empty() && found.find("-----BEGIN ") == found.npos) {
        std::string what = file.empty() ? std::string(option) + "_pem"
                                        : std::string(option) + "_file \"" + file + "\"";
        throw std::runtime_error(what + " is not PEM: it has no line \"-----BEGIN ...\"");
    }
    return found;
}

/// `source` names the option in the error.
template <class Function>
void apply(const char* source, Function function) {
    ERR_clear_error();
    error_code failed;
    function(failed);
    if (failed)
        throw std::runtime_error(std::string(source) + ": " + failed.message());
}

std::shared_ptr<ssl::context> make_context(const tls_options& options) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
    std::string authorities = pem("ca", options.ca_file, options.ca_pem);
    if (authorities.empty() && !options.system_authorities) {
        throw std::runtime_error(
            "no authority is trusted: set ca_file, ca_pem or "
            "system_authorities");
    }
    if (!authorities.empty()) {
        apply("the trusted authorities (ca_file, ca_pem)", [&](error_code& ec) {
            made->add_certificate_authority(boost::asio::buffer(authorities), ec);
        });
        // What was named is trusted, also if another authority has signed it.
        X509_STORE_set_flags(SSL_CTX_get_cert_store(made->native_handle()),
                             X509_V_FLAG_PARTIAL_CHAIN);
    }
    if (options.system_authorities)
        apply("system_authorities", [&](error_code& ec) { made->set_default_verify_paths(ec); });

    std::string certificate = pem("certificate", options.certificate_file, options.certificate_pem);
    std::string key = pem("key", options.key_file, options.key_pem);
    if (certificate.empty() != key.empty())
        throw std::runtime_error("a client certificate needs both the certificate and its key");
    if (certificate.empty())
        return made;
    // Without this, OpenSSL would ask for the password on the terminal.
    made->set_password_callback(
        [password = options.key_password](std::size_t, ssl::context::password_purpose) {
            return password;
        });
    apply("the client certificate (certificate_file, certificate_pem)", [&](error_code& ec) {
        made->use_certificate_chain(boost::asio::buffer(certificate), ec);
    });
    apply("the key of the client certificate (key_file, key_pem, key_password)",
          [&](error_code& ec) {
              made->use_private_key(boost::asio::buffer(key), ssl::context::pem, ec);
          });
    return made;
}

}  // namespace

tls_settings::times tls_settings::file_times() const {
    times result;
    for (const std::string* file :
         {&options_.ca_file, &options_.certificate_file, &options_.key_file}) {
        std::error_code missing;
        if (!file->empty())
            result[*file] = std::filesystem::last_write_time(*file, missing);
    }
    return result;
}

std::shared_ptr<ssl::context> tls_settings::context(std::string& problem) {
    if (options_.context)
        return options_.context;
    times now = file_times();
    if (context_ && now == read_at_)
        return context_;
    try {
        context_ = make_context(options_);
        read_at_ = std::move(now);
        refused_at_.clear();
        return context_;
    } catch (const std::exception& e) {
        // A file that is being replaced: the connection is made with what was valid before.
        if (!context_ || now != refused_at_)
            problem = std::string("tls: ") + e.what();
        refused_at_ = std::move(now);
    }
    return context_;
}

}  // namespace corozk::detail
