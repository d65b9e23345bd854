// SPDX-License-Identifier: Apache-2.0
// A proxy that knows bytes only, for what happens before there are frames, or within one: it ends a
// connection at a chosen byte, or stops to read.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

/// Runs on the test's own event loop, beside the client.
class byte_proxy {
public:
    using tcp = boost::asio::ip::tcp;

    enum class way : std::uint8_t { to_server, to_client };

    /// @param server a port of 127.0.0.1
    byte_proxy(boost::asio::io_context& context, std::uint16_t server)
        : shared_(std::make_shared<shared>(context, server)) {
        for (tcp::acceptor& a : shared_->acceptors)
            accept(shared_, a);
    }
    byte_proxy(const byte_proxy&) = delete;
    byte_proxy& operator=(const byte_proxy&) = delete;

    /// Closes everything, so that nothing is left to run.
    ~byte_proxy() {
        for (tcp::acceptor& a : shared_->acceptors)
            a.close();
        cut();
    }

    /// Two addresses: when an attempt has failed, the client tries the other one at once.
    std::string hosts() const {
        std::string text;
        for (const tcp::acceptor& a : shared_->acceptors) {
            text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") +
                    std::to_string(a.local_endpoint().port());
        }
        return text;
    }

    /// The next connection ends when so many bytes have passed in this direction: with the end of the
    /// stream, or a reset.
    void cut_next(way direction, std::size_t after, bool reset) {
        shared_->next_cut = {direction, after, reset};
    }

    /// Ends all connections.
    void cut() {
        for (auto& link : std::exchange(shared_->links, {})) {
            if (auto l = link.lock())
                l->close();
        }
    }

    /// From now on nothing is read from clients, or again.
    void pause(bool on) {
        shared_->paused = on;
        if (on)
            return;
        for (auto& link : shared_->links) {
            if (auto l = link.lock(); l && std::exchange(l->held, false))
                pump(shared_, l, way::to_server);
        }
    }

    /// How many connections were made.
    std::size_t connections() const { return shared_->connections; }
    /// How many of them ended as `cut_next` wants it.
    std::size_t cuts() const { return shared_->cuts; }
    /// Of all connections.
    std::size_t passed(way direction) const { return shared_->passed[index(direction)]; }

private:
    struct cut_at {
        way direction;
        std::size_t left;
        bool reset;
    };

    struct link {
        explicit link(tcp::socket from_client)
            : client(std::move(from_client)), server(client.get_executor()) {}

        void close() {
            boost::system::error_code ignored;
            client.close(ignored);
            server.close(ignored);
        }

        tcp::socket client;
        tcp::socket server;
        std::optional<cut_at> end;
        std::array<std::array<char, 16384>, 2> bytes;
        bool held = false;   ///< does not read
        bool ended = false;  ///< as `end` says
    };

    struct shared {
        shared(boost::asio::io_context& context, std::uint16_t server)
            : behind(boost::asio::ip::address_v4::loopback(), server),
              acceptors{tcp::acceptor(context), tcp::acceptor(context)} {
            for (tcp::acceptor& a : acceptors) {
                a.open(tcp::v4());
                // Little of what is not read is in the kernel.
                a.set_option(tcp::socket::receive_buffer_size(64 * 1024));
                a.bind({boost::asio::ip::address_v4::loopback(), 0});
                a.listen();
            }
        }

        tcp::endpoint behind;
        std::array<tcp::acceptor, 2> acceptors;
        std::vector<std::weak_ptr<link>> links;
        std::optional<cut_at> next_cut;
        std::size_t connections = 0;
        std::size_t cuts = 0;
        std::array<std::size_t, 2> passed{};
        bool paused = false;
    };

    using shared_pointer = std::shared_ptr<shared>;
    using link_pointer = std::shared_ptr<link>;
    using error_code = boost::system::error_code;

    static std::size_t index(way direction) { return direction == way::to_server ? 0 : 1; }

    static void accept(const shared_pointer& s, tcp::acceptor& acceptor) {
        acceptor.async_accept([s, &acceptor](error_code ec, tcp::socket socket) {
            if (ec)
                return;
            accept(s, acceptor);
            auto l = std::make_shared<link>(std::move(socket));
            ++s->connections;
            s->links.push_back(l);
            l->end = std::exchange(s->next_cut, std::nullopt);
            l->server.async_connect(s->behind, [s, l](error_code failed) {
                if (failed)
                    return l->close();
                error_code ignored;
                l->client.set_option(tcp::no_delay(true), ignored);
                l->server.set_option(tcp::no_delay(true), ignored);
                if (over(s, l))
                    return drain(l);
                pump(s, l, way::to_server);
                pump(s, l, way::to_client);
            });
        });
    }

    static void pump(const shared_pointer& s, const link_pointer& l, way direction) {
        bool up = direction == way::to_server;
        if (up && s->paused) {
            l->held = true;
            return;
        }
        tcp::socket& from = up ? l->client : l->server;
        tcp::socket& to = up ? l->server : l->client;
        auto& bytes = l->bytes[index(direction)];
        bool ends = l->end && l->end->direction == direction;
        std::size_t most = ends ? std::min(l->end->left, bytes.size()) : bytes.size();
        from.async_read_some(boost::asio::buffer(bytes.data(), most),
                             [s, l, direction, &to, &bytes](error_code ec, std::size_t n) {
                                 if (l->ended)
                                     return go_on(s, l, direction);
                                 if (ec)
                                     return l->close();
                                 s->passed[index(direction)] += n;
                                 if (l->end && l->end->direction == direction)
                                     l->end->left -= n;
                                 boost::asio::async_write(
                                     to,
                                     boost::asio::buffer(bytes.data(), n),
                                     [s, l, direction](error_code failed, std::size_t) {
                                         if (failed && !l->ended)
                                             return l->close();
                                         go_on(s, l, direction);
                                     });
                             });
    }

    static void go_on(const shared_pointer& s, const link_pointer& l, way direction) {
        if (!l->ended && !over(s, l))
            pump(s, l, direction);
        else if (direction == way::to_server)
            drain(l);
    }

    /// Whether the connection has come to its end, which is then brought about.
    static bool over(const shared_pointer& s, const link_pointer& l) {
        if (!l->end || l->end->left > 0)
            return false;
        ++s->cuts;
        l->ended = true;
        error_code ignored;
        l->server.close(ignored);
        if (l->end->reset)
            l->client.set_option(tcp::socket::linger(true, 0), ignored);
        else
            l->client.shutdown(tcp::socket::shutdown_send, ignored);
        if (l->end->reset)
            l->client.close(ignored);
        return true;
    }

    /// What is not read when a connection is closed would turn its end into a reset.
    static void drain(const link_pointer& l) {
        l->client.async_read_some(boost::asio::buffer(l->bytes[0]),
                                  [l](error_code ec, std::size_t) { ec ? l->close() : drain(l); });
    }

    shared_pointer shared_;
};

}  // namespace corozk::testing
