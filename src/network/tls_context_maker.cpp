// SPDX-License-Identifier: Apache-2.0
#include "network/tls_context_maker.hpp"

#include <corozk/error.hpp>

#include <boost/asio/buffer.hpp>

#include <cstdlib>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/x509.h>

namespace corozk::detail {

namespace {

namespace ssl = boost::asio::ssl;

constexpr int authorities_at_once = 8;

/// `source` names the option in the error.
template <class Function>
void apply(const char* source, Function function) {
    ERR_clear_error();
    error_code failed;
    function(failed);
    if (failed)
        throw std::runtime_error(std::string(source) + ": " + failed.message());
}

/// The key belongs to the certificate, which the context has already.
void use_key(ssl::context& context, const std::string& key, bool has_password) {
    const bool encrypted = key.find("ENCRYPTED") != key.npos;
    std::string source = "the key of the client certificate (key_file, key_pem)";
    error_code failed;
    ERR_clear_error();
    context.use_private_key(boost::asio::buffer(key), ssl::context::pem, failed);
    if (failed &&
        ERR_GET_REASON(static_cast<unsigned long>(failed.value())) == X509_R_KEY_VALUES_MISMATCH)
        source += " does not belong to the certificate";
    else if (failed && encrypted)
        source += has_password ? " cannot be decrypted: key_password may be wrong"
                               : " is encrypted: set key_password";
    if (failed)
        throw std::runtime_error(source + " (" + failed.message() + ")");
    // OpenSSL keeps one pair for each type of key, so that one of another type is no mismatch yet.
    if (SSL_CTX_check_private_key(context.native_handle()) != 1)
        throw std::runtime_error(source + " is of another type than the certificate's");
}

}  // namespace

system_trust trust_of_system() {
    const char* file = ::secure_getenv(X509_get_default_cert_file_env());
    const char* folder = ::secure_getenv(X509_get_default_cert_dir_env());
    return {file ? file : X509_get_default_cert_file(),
            folder ? folder : X509_get_default_cert_dir(),
            file || folder};
}

tls_context_maker::tls_context_maker(const tls_options& options, tls_files files)
    : options_(options), files_(std::move(files)) {}

std::shared_ptr<ssl::context> tls_context_maker::step() {
    if (!files_.problem.empty())
        throw std::runtime_error(files_.problem);
    if (!made_)
        begin();
    if (add_authorities())
        return nullptr;
    finish();
    return std::move(made_);
}

void tls_context_maker::begin() {
    made_ = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made_->native_handle(), TLS1_2_VERSION);
    // What was named is trusted, also if another authority has signed it.
    if (!files_.authorities.empty())
        X509_STORE_set_flags(SSL_CTX_get_cert_store(made_->native_handle()),
                             X509_V_FLAG_PARTIAL_CHAIN);
}

/// Some of those that are left. @return whether there were any
bool tls_context_maker::add_authorities() {
    std::string_view some = next_certificates(files_.authorities, added_, authorities_at_once);
    if (!some.empty()) {
        apply("the trusted authorities (ca_file, ca_pem)", [&](error_code& ec) {
            made_->add_certificate_authority(boost::asio::buffer(some), ec);
        });
        return true;
    }
    some = next_certificates(files_.system_authorities, added_system_, authorities_at_once);
    error_code ignored;  // as by OpenSSL
    if (!some.empty())
        made_->add_certificate_authority(boost::asio::buffer(some), ignored);
    return !some.empty();
}

void tls_context_maker::finish() {
    if (std::string folder = trust_of_system().folder;
        options_.system_authorities && !folder.empty()) {
        apply("system_authorities", [&](error_code& ec) { made_->add_verify_path(folder, ec); });
    }
    if (files_.certificate.empty())
        return;
    // Without this, OpenSSL would ask for the password on the terminal.
    made_->set_password_callback(
        [password = options_.key_password](std::size_t, ssl::context::password_purpose) {
            return password;
        });
    apply("the client certificate (certificate_file, certificate_pem)", [&](error_code& ec) {
        made_->use_certificate_chain(boost::asio::buffer(files_.certificate), ec);
    });
    use_key(*made_, files_.key, !options_.key_password.empty());
}

}  // namespace corozk::detail
