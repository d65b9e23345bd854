// SPDX-License-Identifier: Apache-2.0
#include "network/stream.hpp"
#include "network/tls_contexts.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <openssl/x509v3.h>

namespace corozk::detail {

namespace {

namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;
using boost::system::error_code;

/// The certificate that was examined last: the server's, or one of those above it.
std::string certificate_name(X509_STORE_CTX* chain) {
    X509* certificate = X509_STORE_CTX_get_current_cert(chain);
    if (!certificate || X509_STORE_CTX_get_error_depth(chain) == 0)
        return "its certificate";
    std::array<char, 256> subject{};
    X509_NAME_oneline(
        X509_get_subject_name(certificate), subject.data(), static_cast<int>(subject.size()));
    return std::string("the certificate of its authority ") + subject.data();
}

/// Why OpenSSL does not accept the server's certificate.
std::string certificate_problem(X509_STORE_CTX* chain) {
    const int reason = X509_STORE_CTX_get_error(chain);
    switch (reason) {
        case X509_V_OK:
            return "its certificate was rejected by the verify callback of the context in "
                   "client_options::tls";
        case X509_V_ERR_CERT_HAS_EXPIRED: return certificate_name(chain) + " has expired";
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return certificate_name(chain) +
                   " is not valid yet (or the clock of this machine is wrong)";
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return "its certificate was signed by an unknown authority: trust it with ca_file or "
                   "ca_pem";
        default:
            return certificate_name(chain) +
                   " is not accepted: " + X509_verify_cert_error_string(reason);
    }
}

/// @param certified whether the client has a certificate
std::string handshake_problem(const error_code& error, bool certified) {
    if (error == boost::asio::error::eof || error == ssl::error::stream_truncated ||
        error == boost::asio::error::connection_reset) {
        return "it closed the connection during the TLS handshake: this may be a port without TLS";
    }
    if (error.category() != boost::asio::error::get_ssl_category())
        return error.message();
    switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_PACKET_LENGTH_TOO_LONG: return "it does not speak TLS on this port";
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: return "it offers no version of TLS from 1.2 on";
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return "it does not trust the authority of the client's certificate";
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
            return "it says that the client's certificate has expired";
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
            return std::string("it refuses the handshake: no cipher suite may be common to both") +
                   (certified ? "" : ", or it requires the client's certificate") + " (" +
                   error.message() + ")";
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return (certified ? "it does not accept the client's certificate, which may be expired "
                                "or signed by an authority that it does not trust ("
                              : "it requires the client's certificate: set certificate_file and "
                                "key_file (") +
                   error.message() + ")";
        case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
        case SSL_R_TLSV1_UNRECOGNIZED_NAME:
            return "it does not accept the server name that it was called by (" + error.message() +
                   ")";
        default: return "TLS: " + error.message();
    }
}

/// Whether it may be in the extension that names the server (RFC 6066): not an address, and not a name
/// with characters that a resolver may accept, but Java's TLS does not.
bool is_host_name(std::string_view name) {
    error_code literal;
    boost::asio::ip::make_address(name, literal);
    auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.';
    };
    const std::string dotted = '.' + std::string(name) + '.';
    auto has = [&dotted](const char* part) { return dotted.find(part) != dotted.npos; };
    return literal.failed() && std::all_of(name.begin(), name.end(), fits) && !has("..") &&
           !has(".-") && !has("-.");
}

bool is_for(X509* certificate, const std::string& name) {
    // Without the network interface of a link-local address.
    error_code is_name;
    auto address = boost::asio::ip::make_address(name.substr(0, name.find('%')), is_name);
    if (is_name)
        return X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        address = make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
    else if (address.is_v6())
        address = boost::asio::ip::make_address_v6(address.to_v6().to_bytes());
    return X509_check_ip_asc(certificate, address.to_string().c_str(), 0) == 1;
}

class tls_stream final : public stream, public std::enable_shared_from_this<tls_stream> {
public:
    tls_stream(const boost::asio::any_io_executor& executor,
               callback ready,
               std::shared_ptr<tls_contexts> contexts,
               server_names names)
        : stream(std::move(ready)),
          contexts_(std::move(contexts)),
          socket_(executor),
          names_(std::move(names)),
          farewell_(executor) {
        // Certificates, and the extension that names the server, have no final dot.
        for (std::string& name : names_) {
            if (name.ends_with('.'))
                name.pop_back();
        }
    }

    void connect(const endpoint& server) override {
        contexts_->get(
            [weak = weak_from_this(), server](const std::shared_ptr<ssl::context>& context,
                                              const std::string& problem) {
                if (auto self = weak.lock(); self && !self->closed_)
                    self->connect(server, context, problem);
            });
    }

    void wait_for_input() override {
        if (reading_ || input_ || !connected_)
            return;
        reading_ = true;
        stream_->async_read_some(boost::asio::buffer(received_),
                                 [self = shared_from_this()](const error_code& ec, std::size_t n) {
                                     self->reading_ = false;
                                     self->input_ = true;
                                     self->begin_ = 0;
                                     self->end_ = n;
                                     self->failed_ = ec;
                                     self->notify();
                                 });
    }

    std::size_t read(std::span<unsigned char> into) override {
        std::size_t n = std::min(into.size(), end_ - begin_);
        std::memcpy(into.data(), received_.data() + begin_, n);
        begin_ += n;
        input_ = begin_ < end_;
        if (n == 0 && failed_) {
            bool closed =
                failed_ == boost::asio::error::eof || failed_ == ssl::error::stream_truncated;
            // With TLS 1.3 the server checks the client's certificate after our handshake.
            bool by_tls = !closed && failed_.category() == boost::asio::error::get_ssl_category();
            shaking_hands_ = by_tls;
            end(closed    ? connection_problem(boost::asio::error::eof)
                : !by_tls ? connection_problem(failed_)
                          : handshake_problem(failed_, certified()));
        } else if (!input_ && failed_) {
            input_ = true;
        }
        return n;
    }

    void write(bytes data) override {
        unsent_.insert(unsent_.end(), data.begin(), data.end());
        if (sending_.empty())
            send();
    }

    bool congested() const noexcept override { return sending_.size() + unsent_.size() > enough; }

    void close() override {
        closed_ = true;
        end({});
        unsent_.clear();
        farewell_.cancel();
        error_code ignored;
        socket_.close(ignored);
    }

    void close_when_sent() override {
        if (closed_ || sending_.empty())
            return close();
        closed_ = true;
        end({});
        farewell_.expires_after(longest_farewell);
        farewell_.async_wait([self = shared_from_this()](const error_code& ec) {
            if (!ec)
                self->close();
        });
    }

    void leave_to_parent() noexcept override {
        if (socket_.is_open())
            ::close(socket_.native_handle());
    }

private:
    static constexpr std::size_t enough = 256UL * 1024;
    static constexpr std::chrono::milliseconds longest_farewell{100};

    void connect(const endpoint& server,
                 const std::shared_ptr<ssl::context>& context,
                 const std::string& problem) {
        unusable_settings_ = !context;
        if (unusable_settings_)
            return fail(problem);
        context_ = context;
        stream_.emplace(socket_, *context_);
        error_code failed;
        open_socket(socket_, server, failed);
        if (failed)
            return fail(failed.message());
        socket_.async_connect(server, [self = shared_from_this()](const error_code& ec) {
            if (!ec)
                return self->shake_hands();
            self->end(ec.message());
            self->notify();
        });
    }

    void fail(const std::string& problem) {
        end(problem);
        boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->notify(); });
    }

    void shake_hands() {
        if (closed_)
            return;
        shaking_hands_ = true;
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
        // The first name, as nothing else can be sent, and a server may choose its certificate by it.
        auto name = std::find_if(names_.begin(), names_.end(), is_host_name);
        if (name != names_.end())
            SSL_set_tlsext_host_name(stream_->native_handle(), name->c_str());
        // A context of the user's may permit older versions.
        if (SSL_get_min_proto_version(stream_->native_handle()) < TLS1_2_VERSION)
            SSL_set_min_proto_version(stream_->native_handle(), TLS1_2_VERSION);
        stream_->set_verify_mode(ssl::verify_peer, ignored);
        stream_->set_verify_callback(
            [this](bool accepted, ssl::verify_context& chain) { return verify(accepted, chain); },
            ignored);
        stream_->async_handshake(
            ssl::stream_base::client, [self = shared_from_this()](const error_code& ec) {
                if (!ec)
                    self->refusal_ = self->peer_problem();
                self->shaking_hands_ = ec || !self->refusal_.empty();
                if (self->shaking_hands_)
                    self->end(self->refusal_.empty() ? handshake_problem(ec, self->certified())
                                                     : self->refusal_);
                else
                    self->connected_ = true;
                self->notify();
            });
        notify();
    }

    bool certified() { return SSL_get_certificate(stream_->native_handle()) != nullptr; }

    bool verify(bool accepted, ssl::verify_context& chain) {
        // That of the user's context was replaced by this one. It can only refuse more.
        if (auto users = SSL_CTX_get_verify_callback(context_->native_handle()))
            accepted = users(accepted ? 1 : 0, chain.native_handle()) == 1 && accepted;
        if (!accepted) {
            refusal_ = certificate_problem(chain.native_handle());
        } else if (X509_STORE_CTX_get_error_depth(chain.native_handle()) == 0 &&
                   !is_for_server(X509_STORE_CTX_get_current_cert(chain.native_handle()))) {
            accepted = false;
            refusal_ = not_for_server();
        }
        return accepted;
    }

    /// Once more: OpenSSL does not ask `verify` if the user's context has a function that verifies
    /// whole chains, or permits suites without certificates.
    std::string peer_problem() {
        SSL* connection = stream_->native_handle();
        const std::unique_ptr<X509, decltype(&X509_free)> shown(
            SSL_get1_peer_certificate(connection), &X509_free);
        if (!shown || SSL_get_verify_result(connection) != X509_V_OK)
            return "it has shown no certificate that is trusted";
        return is_for_server(shown.get()) ? std::string() : not_for_server();
    }

    bool is_for_server(X509* certificate) const {
        return std::any_of(names_.begin(), names_.end(), [certificate](const std::string& name) {
            return is_for(certificate, name);
        });
    }

    std::string not_for_server() const {
        std::string problem = "its certificate is not for ";
        for (const std::string& name : names_)
            problem += (&name == &names_.front() ? "\"" : " or \"") + name + "\"";
        return problem;
    }

    void send() {
        sending_.swap(unsent_);
        boost::asio::async_write(*stream_,
                                 boost::asio::buffer(sending_),
                                 [self = shared_from_this()](const error_code& ec, std::size_t) {
                                     bool full = self->congested();
                                     self->sending_.clear();
                                     if (self->closed_ && (ec || self->unsent_.empty()))
                                         return self->close();
                                     if (ec)
                                         return;  // the input ends, too
                                     if (!self->unsent_.empty())
                                         self->send();
                                     else
                                         self->release_buffers();
                                     if (full)
                                         self->notify();
                                 });
    }

    /// An idle connection takes little memory, whatever it has sent.
    void release_buffers() noexcept {
        constexpr std::size_t usual = 2048;
        for (std::vector<unsigned char>* buffer : {&sending_, &unsent_}) {
            if (buffer->capacity() > usual)
                std::vector<unsigned char>().swap(*buffer);
        }
    }

    std::shared_ptr<tls_contexts> contexts_;
    std::shared_ptr<ssl::context> context_;
    tcp::socket socket_;
    std::optional<ssl::stream<tcp::socket&>> stream_;  ///< once there is a context
    server_names names_;
    std::string refusal_;  ///< of the server's certificate
    std::array<unsigned char, 16384> received_;
    std::size_t begin_ = 0;  ///< of what was not read yet
    std::size_t end_ = 0;
    error_code failed_;
    std::vector<unsigned char> sending_;
    std::vector<unsigned char> unsent_;
    boost::asio::steady_timer farewell_;  ///< until it is closed, sent or not
    bool reading_ = false;
};

}  // namespace

std::shared_ptr<stream> stream::tls(const boost::asio::any_io_executor& executor,
                                    callback ready,
                                    std::shared_ptr<tls_contexts> contexts,
                                    server_names names) {
    return std::make_shared<tls_stream>(
        executor, std::move(ready), std::move(contexts), std::move(names));
}

}  // namespace corozk::detail
