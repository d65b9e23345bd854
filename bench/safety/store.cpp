// SPDX-License-Identifier: Apache-2.0
#include "safety/store.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// One request of a storage service at a time: the machine's own lock, for a moment.
class moment_alone {
public:
    explicit moment_alone(const std::string& path)
        : fd_(::open((path + ".alone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0)
            throw std::system_error(errno, std::generic_category(), path);
    }
    ~moment_alone() { ::close(fd_); }
    moment_alone(const moment_alone&) = delete;
    moment_alone& operator=(const moment_alone&) = delete;

private:
    int fd_;
};

/// Data that is not in ZooKeeper: a line with the largest token that has come, and the text.
class file_text : public shared_text {
public:
    file_text(std::string path, bool check_token) : path_(std::move(path)), tokens_(check_token) {}

    asio::awaitable<std::string> read(ownership&) override {
        moment_alone now(path_);
        co_return text_of_file(path_);
    }

    asio::awaitable<write_outcome> write(ownership& held, std::string text) override {
        moment_alone now(path_);
        std::int64_t token = held.fencing_token();
        if (tokens_ && token < largest_token())
            co_return write_outcome::refused;
        std::ofstream(path_, std::ios::trunc) << token << '\n' << text << '\n';
        co_return write_outcome::written;
    }

private:
    std::int64_t largest_token() const {
        std::int64_t token = 0;
        std::ifstream(path_) >> token;
        return token;
    }

    std::string path_;
    bool tokens_;
};

class node_text : public shared_text {
public:
    explicit node_text(client& c, std::string path) : client_(c), path_(std::move(path)) {}

    asio::awaitable<std::string> read(ownership& held) override {
        auto node = co_await held.read(path_);
        co_return std::move(node.data);
    }

    /// As a program does that insists: in the next session, if this one is over.
    asio::awaitable<write_outcome> write(ownership&, std::string text) override {
        constexpr int most = 500;
        asio::steady_timer timer(co_await asio::this_coro::executor);
        for (int i = 0; i < most; ++i) {
            auto [ec, stat] = co_await client_.set(path_, text, as_result);
            if (!ec)
                co_return write_outcome::written;
            timer.expires_after(std::chrono::milliseconds(20));
            co_await timer.async_wait(asio::use_awaitable);
        }
        co_return write_outcome::unknown;
    }

protected:
    client& client_;
    std::string path_;
};

class guarded_node_text : public node_text {
public:
    using node_text::node_text;

    asio::awaitable<write_outcome> write(ownership& held, std::string text) override {
        transaction steps;
        steps.set(path_, text);
        auto [ec, results] = co_await held.commit(std::move(steps), as_result);
        if (!ec)
            co_return write_outcome::written;
        bool lost = ec == errc::ownership_lost;
        co_return lost ? write_outcome::refused : write_outcome::unknown;
    }
};

}  // namespace

std::string protection::name() const {
    return fmt::format("{}-{}", store, guard);
}

const protection& find_protection(std::string_view name) {
    auto at = std::find_if(protections.begin(), protections.end(), [name](const protection& p) {
        return p.name() == name;
    });
    if (at == protections.end())
        throw std::logic_error("no such protection: " + std::string(name));
    return *at;
}

std::string text_of_file(const std::string& path) {
    std::ifstream stream(path);
    std::string token;
    std::getline(stream, token);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::unique_ptr<shared_text> open_text(const protection& p, client& c, std::string path) {
    if (p.store == "file")
        return std::make_unique<file_text>(std::move(path), p.guard == "token");
    if (p.guard == "commit")
        return std::make_unique<guarded_node_text>(c, std::move(path));
    return std::make_unique<node_text>(c, std::move(path));
}

}  // namespace corozk::bench
