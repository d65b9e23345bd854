// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

class tls_contexts;

/// The names that the host list has for a server. The first one stands for it; the certificate may be
/// for any of them.
using server_names = std::vector<std::string>;

/// A connection to a server: TCP, or TLS over TCP.
///
/// Reports every change by calling `ready`, on the executor and never within a call of the owner,
/// who then asks what has changed. After `close` it is not called any more.
class stream {
public:
    using endpoint = boost::asio::ip::tcp::endpoint;
    using callback = std::function<void()>;
    using bytes = std::span<const unsigned char>;

    static std::shared_ptr<stream> tcp(const boost::asio::any_io_executor& executor,
                                       callback ready);

    /// Requires `has_tls()`. The certificate of the server must be for one of the names.
    static std::shared_ptr<stream> tls(const boost::asio::any_io_executor& executor,
                                       callback ready,
                                       std::shared_ptr<tls_contexts> contexts,
                                       server_names names);

    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    virtual ~stream() = default;

    /// Includes the TLS handshake. `connected` or `ended` follows.
    virtual void connect(const endpoint& server) = 0;

    /// Unless there is input already.
    virtual void wait_for_input() = 0;

    /// Reads without waiting. @return 0 if there is nothing
    virtual std::size_t read(std::span<unsigned char> into) = 0;

    /// Sends; what cannot be sent yet is copied and sent later. A failure ends the input.
    virtual void write(bytes data) = 0;

    virtual void close() = 0;

    /// Closes once what was written is sent, soon in any case.
    virtual void close_when_sent() { close(); }

    /// In the child of a fork: closes the descriptor and leaves the connection to the parent.
    virtual void leave_to_parent() noexcept = 0;

    bool connected() const noexcept { return connected_; }

    /// Whether the TLS handshake has begun, and has not succeeded.
    bool shaking_hands() const noexcept { return shaking_hands_; }
    bool ended() const noexcept { return ended_; }

    /// Whether it has ended because the TLS settings cannot be used.
    bool unusable_settings() const noexcept { return unusable_settings_; }

    /// Whether `read` may return something, or the end was not read yet.
    bool input() const noexcept { return input_; }

    /// Whether data waits to be sent.
    virtual bool congested() const noexcept = 0;

    /// Why it ended, in words.
    const std::string& problem() const noexcept { return problem_; }

protected:
    explicit stream(callback ready) : ready_(std::move(ready)) {}

    void notify() {
        if (!closed_)
            ready_();
    }

    void end(std::string problem) {
        if (!ended_)
            problem_ = std::move(problem);
        ended_ = true;
        connected_ = false;
    }

    bool connected_ = false;
    bool shaking_hands_ = false;
    bool unusable_settings_ = false;
    bool input_ = false;
    bool closed_ = false;

private:
    callback ready_;
    bool ended_ = false;
    std::string problem_;
};

/// Opens connections as the options of a client say: with or without TLS.
class stream_factory {
public:
    stream_factory(const boost::asio::any_io_executor& executor, const client_options& options);
    stream_factory(const stream_factory&) = delete;
    stream_factory& operator=(const stream_factory&) = delete;

    std::shared_ptr<stream> make(const server_names& names, stream::callback ready);

    /// No connection is wanted any more.
    void stop() noexcept;

    /// Why changed files of the TLS settings are not used, in words; once for each change.
    std::string take_warning();

    const boost::asio::any_io_executor& executor() const noexcept { return executor_; }
    const client_options& options() const noexcept { return options_; }

private:
    boost::asio::any_io_executor executor_;
    const client_options& options_;
    std::shared_ptr<tls_contexts> tls_;
};

/// How the end of a connection is put in words.
std::string connection_problem(const boost::system::error_code& error);

/// Opens a socket that child processes do not inherit; those opened by Asio would be.
void open_socket(boost::asio::ip::tcp::socket& socket,
                 const stream::endpoint& server,
                 boost::system::error_code& error);

}  // namespace corozk::detail
