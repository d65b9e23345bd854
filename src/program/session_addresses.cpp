// SPDX-License-Identifier: Apache-2.0
#include "session_addresses.hpp"

#include "awaiting.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <future>
#include <regex>
#include <sstream>
#include <thread>

namespace corozk::program {

namespace {

using tcp = asio::ip::tcp;

/// On a thread that is left behind if this is cancelled: a look-up itself cannot be.
asio::awaitable<tcp::resolver::results_type> look_up(std::string name, std::string port) {
    std::packaged_task<tcp::resolver::results_type()> task([=] {
        asio::io_context own;
        boost::system::error_code failed;
        return tcp::resolver(own).resolve(name, port, failed);
    });
    auto found = task.get_future();
    std::thread(std::move(task)).detach();
    while (found.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        co_await pause_for(std::chrono::milliseconds(10));
    co_return found.get();
}

asio::awaitable<std::string> ask(std::string name, std::string port) {
    std::string answer;
    tcp::resolver::results_type addresses = co_await look_up(std::move(name), std::move(port));
    tcp::socket socket(co_await asio::this_coro::executor);
    auto [connected, where] = co_await asio::async_connect(socket, addresses, as_tuple);
    if (connected)
        co_return answer;
    std::string word("cons\n");
    auto [written, sent] = co_await asio::async_write(socket, asio::buffer(word), as_tuple);
    if (written)
        co_return answer;
    // The server closes the connection after its answer.
    constexpr std::size_t largest_answer = 16 * 1024 * 1024;
    co_await asio::async_read(socket, asio::dynamic_buffer(answer, largest_answer), as_tuple);
    co_return answer;
}

/// Lines such as " /127.0.0.1:41718[1](queued=0,recved=6,sent=6,sid=0x1000d3f0c0b0001,lop=PING,...)".
void parse_connections(const std::string& answer, address_map& found) {
    constexpr auto none = std::string::npos;
    std::istringstream lines(answer);
    for (std::string line; std::getline(lines, line);) {
        auto slash = line.find('/');
        auto bracket = line.rfind('[', line.find('('));
        auto session = line.find("sid=0x");
        if (slash == none || bracket == none || session == none || bracket < slash)
            continue;
        std::uint64_t id = 0;
        const char* digits = line.data() + session + 6;
        if (std::from_chars(digits, line.data() + line.size(), id, 16).ec == std::errc())
            found[static_cast<std::int64_t>(id)] = line.substr(slash + 1, bracket - slash - 1);
    }
}

}  // namespace

asio::awaitable<address_map> session_addresses(std::string hosts) {
    using namespace asio::experimental::awaitable_operators;
    static const std::regex host(R"(([^,]+?)(?::(\d+))?(?:,|$))");  // "a:1,[::1]:2,c/app"
    hosts = hosts.substr(0, hosts.find('/'));
    address_map found;
    for (std::sregex_iterator each(hosts.begin(), hosts.end(), host), end; each != end; ++each) {
        std::string name = (*each)[1];
        if (name.starts_with('[') && name.ends_with(']'))
            name = name.substr(1, name.size() - 2);
        std::string port = (*each)[2].matched ? (*each)[2].str() : "2181";
        auto first = co_await (ask(name, port) || pause_for(std::chrono::seconds(1)));
        if (first.index() == 0)
            parse_connections(std::get<0>(first), found);
    }
    co_return found;
}

}  // namespace corozk::program
