// SPDX-License-Identifier: Apache-2.0
#include "network/tls_settings.hpp"

#include "network/read_file.hpp"
#include <corozk/error.hpp>

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <openssl/x509.h>

namespace corozk::detail {

namespace {

namespace ssl = boost::asio::ssl;

// For a program that writes a key into a pipe: nothing else waits.
constexpr std::chrono::seconds pipe_patience{10};

bool is_pipe(const std::string& file) {
    struct ::stat found {};
    return ::stat(file.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

/// @param piped what has come out of pipes, by their names: a pipe can be read once
std::string content_of(const std::string& file,
                       std::map<std::string, std::string>& piped,
                       std::string& problem) {
    if (!is_pipe(file))
        return read_file(file, problem);
    std::string& known = piped[file];
    if (known.empty())
        known = read_file(file, problem, pipe_patience);
    return known;
}

/// A PEM text of the options: from memory, or the content of a file.
std::string pem_text(const char* option,
                     const std::string& file,
                     const std::string& text,
                     std::map<std::string, std::string>& piped) {
    if (!file.empty() && !text.empty()) {
        throw std::runtime_error(std::string("set either ") + option + "_file or " + option +
                                 "_pem");
    }
    if (file.empty())
        return text;
    std::string why;
    std::string content = content_of(file, piped, why);
    if (why.empty() && content.empty())
        why = "it is empty";
    if (!why.empty()) {
        throw std::runtime_error(std::string("cannot read ") + option + "_file \"" + file +
                                 "\": " + why);
    }
    return content;
}

constexpr std::string_view begin_of_block = "-----BEGIN ";
constexpr std::string_view certificate_block = "CERTIFICATE";
constexpr std::string_view key_block = "PRIVATE KEY";  // also those of one algorithm, or encrypted

/// Whether what follows "-----BEGIN " is the name of a block that OpenSSL takes for one of this type.
bool is_block(std::string_view rest, std::string_view type) {
    std::string_view name = rest.substr(0, rest.find("-----"));
    if (type == certificate_block)
        return name == type || name == "X509 CERTIFICATE";
    return name.ends_with(type) && name != "OPENSSH PRIVATE KEY";
}

/// The text of an option, which must be PEM with a block of this type, or empty.
std::string pem(const char* option,
                std::string_view type,
                const std::string& file,
                const std::string& text,
                std::map<std::string, std::string>& piped) {
    std::string found = pem_text(option, file, text, piped);
    if (found.empty())
        return found;
    const std::string what = file.empty() ? std::string(option) + "_pem"
                                          : std::string(option) + "_file \"" + file + "\"";
    std::string_view first;
    for (std::size_t at = found.find(begin_of_block); at != found.npos;
         at = found.find(begin_of_block, at)) {
        at += begin_of_block.size();
        const std::string_view rest = std::string_view(found).substr(at);
        if (is_block(rest, type))
            return found;
        if (first.empty())
            first = rest.substr(0, std::min(rest.find("-----"), rest.find('\n')));
    }
    if (first.empty())
        throw std::runtime_error(what + " is not PEM: it has no line \"-----BEGIN ...\"");
    throw std::runtime_error(what + " must have a block \"-----BEGIN " + std::string(type) +
                             "-----\", but begins with \"-----BEGIN " + std::string(first) +
                             "-----\"");
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

/// A context of the user's. @throws std::runtime_error if no client can use it
void check_context(ssl::context& context) {
    if (SSL_CTX_get_ssl_method(context.native_handle()) == TLS_server_method())
        throw std::runtime_error("the context was made for servers: use ssl::context::tls_client");
}

/// Whether OpenSSL finds an authority in this folder by its name: "3513523f.0".
bool has_hashed_authorities(const char* folder) {
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        const std::string name = entry.path().filename().string();
        if (name.size() == 10 && name.ends_with(".0") &&
            name.find_first_not_of("0123456789abcdef") == 8)
            return true;
    }
    return false;
}

/// Trusts what the machine trusts. By default OpenSSL reads a file with all authorities at once, which
/// takes tens of milliseconds for each client; from the folder it reads the one that it needs.
void trust_system(ssl::context& context, error_code& ec) {
    const char* const folder = X509_get_default_cert_dir();
    const bool chosen = ::secure_getenv(X509_get_default_cert_dir_env()) ||
                        ::secure_getenv(X509_get_default_cert_file_env());
    if (!chosen && has_hashed_authorities(folder))
        context.add_verify_path(folder, ec);
    else
        context.set_default_verify_paths(ec);
}

std::shared_ptr<ssl::context> make_context(const tls_options& options,
                                           std::map<std::string, std::string>& piped) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
    std::string authorities = pem("ca", certificate_block, options.ca_file, options.ca_pem, piped);
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
        apply("system_authorities", [&](error_code& ec) { trust_system(*made, ec); });

    std::string certificate = pem(
        "certificate", certificate_block, options.certificate_file, options.certificate_pem, piped);
    std::string key = pem("key", key_block, options.key_file, options.key_pem, piped);
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
    use_key(*made, key, !options.key_password.empty());
    return made;
}

}  // namespace

tls_settings::file_states tls_settings::look_at_files() const {
    file_states result;
    for (const std::string* file :
         {&options_.ca_file, &options_.certificate_file, &options_.key_file}) {
        if (file->empty())
            continue;
        struct ::stat found {};
        // A missing file has a state, too, and a pipe always the same.
        if (::stat(file->c_str(), &found) != 0 || S_ISFIFO(found.st_mode))
            found = {};
        // Not only the time of the last modification, which a copy may have kept.
        result[*file] = {found.st_mtim.tv_sec,
                         found.st_mtim.tv_nsec,
                         found.st_ctim.tv_sec,
                         found.st_ctim.tv_nsec,
                         static_cast<std::int64_t>(found.st_size),
                         static_cast<std::int64_t>(found.st_ino)};
    }
    return result;
}

bool tls_settings::may_take_long() const noexcept {
    const bool files = !options_.ca_file.empty() || !options_.certificate_file.empty() ||
                       !options_.key_file.empty();
    return !options_.context && (files || !context_);
}

std::shared_ptr<ssl::context> tls_settings::context(std::string& problem) {
    file_states now = look_at_files();
    if (context_ && now == used_)
        return context_;
    try {
        if (options_.server_name.starts_with('.'))
            throw std::runtime_error("server_name must be the name of a server");
        if (options_.context)
            check_context(*options_.context);
        auto piped = piped_;
        context_ = options_.context ? options_.context : make_context(options_, piped);
        piped_ = std::move(piped);
        used_ = std::move(now);
        refused_.clear();
        return context_;
    } catch (const std::exception& e) {
        // A file that is being replaced: the connection is made with what was valid before.
        if (!context_ || now != refused_)
            problem = std::string("tls: ") + e.what();
        refused_ = std::move(now);
    }
    return context_;
}

}  // namespace corozk::detail
