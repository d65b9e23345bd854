// SPDX-License-Identifier: Apache-2.0
#include "tls_front.hpp"

#include "certificates.hpp"

#include <stdexcept>

#if COROZK_HAS_TLS
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#endif

namespace corozk::testing {

#if COROZK_HAS_TLS

namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;

constexpr std::size_t piece = 4'096;
constexpr auto in_tuple = asio::as_tuple(asio::use_awaitable);

/// Servers are started meanwhile, and must not keep connections.
template <class Socket>
void keep_from_children(Socket& socket) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

/// As `open`, also if another thread starts one at that moment.
void open_for_us(tcp::socket& socket, const tcp& protocol) {
    const int fd = ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
    boost::system::error_code failed;  // said by the connecting
    if (fd >= 0)
        socket.assign(protocol, fd, failed);
    if (failed)
        ::close(fd);
}

/// Both ends of a connection.
struct two_ends {
    two_ends(tcp::socket from_client, ssl::context& context)
        : server(from_client.get_executor()), client(std::move(from_client), context) {}

    void reset() {
        for (tcp::socket* end : {&server, &client.next_layer()}) {
            boost::system::error_code ignored;
            end->set_option(tcp::socket::linger(true, 0), ignored);
            end->close(ignored);
        }
    }

    tcp::socket server;
    ssl::stream<tcp::socket> client;
};

ssl::context make_context(int only_version = 0) {
    ssl::context server(ssl::context::tls_server);
    if (only_version != 0) {
        // OpenSSL 3 has no signatures for TLS 1.1 above level 0.
        SSL_CTX_set_security_level(server.native_handle(), 0);
        SSL_CTX_set_min_proto_version(server.native_handle(), only_version);
        SSL_CTX_set_max_proto_version(server.native_handle(), only_version);
    }
    // A ticket that contains the session's state is shorter now and then. Tests that cut a handshake
    // at a byte need all of the same length.
    SSL_CTX_set_options(server.native_handle(), SSL_OP_NO_TICKET);
    server.use_certificate_chain_file(made().file("server.pem"));
    server.use_private_key_file(made().file("server.key"), ssl::context::pem);
    return server;
}

/// One for all fronts: OpenSSL has a lock for reading keys, for which many threads would wait.
ssl::context& context(tls_front::version spoken) {
    static ssl::context usual = make_context();
    static ssl::context old = make_context(TLS1_1_VERSION);
    static ssl::context newer = make_context(TLS1_2_VERSION);
    return spoken == tls_front::version::only_1_1   ? old
           : spoken == tls_front::version::only_1_2 ? newer
                                                    : usual;
}

using both = std::shared_ptr<two_ends>;

/// In one direction, to the end.
template <class From, class To>
asio::awaitable<void> pass_on(both link, From& from, To& to) {
    std::array<char, piece> bytes;
    for (;;) {
        auto [ended, count] = co_await from.async_read_some(asio::buffer(bytes), in_tuple);
        if (ended == asio::error::eof || ended == ssl::error::stream_truncated) {
            boost::system::error_code ignored;
            to.lowest_layer().shutdown(tcp::socket::shutdown_send, ignored);
            co_return;
        }
        if (ended)
            break;
        auto [failed, written] =
            co_await asio::async_write(to, asio::buffer(bytes.data(), count), in_tuple);
        if (failed)
            break;
    }
    link->reset();
}

}  // namespace

class tls_front::impl {
public:
    impl(std::uint16_t behind, version spoken)
        : behind_(asio::ip::address_v4::loopback(), behind),
          context_(context(spoken)) {  // throws here
        keep_from_children(acceptor_);
        asio::co_spawn(loop_, accept(), asio::detached);
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the others
        thread_ = std::thread([this] { loop_.run(); });
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    ~impl() {
        loop_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    std::vector<std::string> names() const {
        std::lock_guard guard(mutex_);
        return names_;
    }

private:
    asio::awaitable<void> accept() {
        for (;;) {
            auto [failed, socket] = co_await acceptor_.async_accept(in_tuple);
            if (failed)
                continue;
            keep_from_children(socket);
            auto link = std::make_shared<two_ends>(std::move(socket), context_);
            asio::co_spawn(loop_, serve(std::move(link)), asio::detached);
        }
    }

    asio::awaitable<void> serve(both link) {
        boost::system::error_code ignored;
        open_for_us(link->server, behind_.protocol());
        auto [refused] = co_await link->server.async_connect(behind_, in_tuple);
        if (refused)
            co_return link->reset();
        link->server.set_option(tcp::no_delay(true), ignored);
        link->client.next_layer().set_option(tcp::no_delay(true), ignored);
        auto [failed] = co_await link->client.async_handshake(ssl::stream_base::server, in_tuple);
        if (failed)
            co_return link->reset();
        note_name(link->client.native_handle());
        asio::co_spawn(loop_, pass_on(link, link->server, link->client), asio::detached);
        co_await pass_on(link, link->client, link->server);
    }

    void note_name(SSL* connection) {
        const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
        std::lock_guard guard(mutex_);
        names_.emplace_back(name == nullptr ? "" : name);
    }

    tcp::endpoint behind_;
    ssl::context& context_;
    mutable std::mutex mutex_;
    std::vector<std::string> names_;  // under the mutex
    asio::io_context loop_{1};
    tcp::acceptor acceptor_{loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::thread thread_;
};

#else

class tls_front::impl {
public:
    impl(std::uint16_t, version) { throw std::runtime_error("this build has no TLS"); }
    std::uint16_t port() const { return 0; }
    std::vector<std::string> names() const { return {}; }
};

#endif

tls_front::tls_front(std::uint16_t behind, version spoken)
    : impl_(std::make_unique<impl>(behind, spoken)) {}
tls_front::~tls_front() = default;

std::uint16_t tls_front::port() const {
    return impl_->port();
}

std::string tls_front::hosts() const {
    return "127.0.0.1:" + std::to_string(port());
}

std::vector<std::string> tls_front::names() const {
    return impl_->names();
}

tls_options tls_front::trusted() {
    return made().trusting("ca.pem");
}

}  // namespace corozk::testing
