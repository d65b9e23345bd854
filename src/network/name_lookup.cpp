// SPDX-License-Identifier: Apache-2.0
#include "network/name_lookup.hpp"

#include "network/fork_guard.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <netdb.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace corozk::detail {

namespace ip = boost::asio::ip;

namespace {

/// Accessed under a `fork_guard`, so that it is consistent in a child process; what was found is not
/// changed any more.
struct lookup_query {
    std::string name;
    std::vector<late_callback::weak> waiters;
    std::string problem;
    std::vector<ip::address> addresses;
};
using lookup_queries = std::map<std::string, std::shared_ptr<lookup_query>>;

/// The look-ups in progress.
lookup_queries& queries_under_way() {
    // Never destroyed: threads may outlive static objects.
    static auto& queries = *new lookup_queries;
    static unsigned process = forks();
    // Threads are not inherited: the parent's look-ups never finish here.
    if (std::exchange(process, forks()) != forks())
        queries.clear();
    return queries;
}

/// @return the problem, or empty
std::string look_up(const std::string& name, std::vector<ip::address>& addresses) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    errno = 0;
    int rc = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    int error = errno;
    if (rc != 0) {
        // Its text would be "System error".
        if (rc == EAI_SYSTEM && error != 0)
            return std::generic_category().message(error);
        return ::gai_strerror(rc);
    }
    for (const addrinfo* a = list; a; a = a->ai_next) {
        ip::tcp::endpoint endpoint;
        if ((a->ai_family != AF_INET && a->ai_family != AF_INET6) ||
            a->ai_addrlen > endpoint.capacity()) {
            continue;
        }
        std::memcpy(endpoint.data(), a->ai_addr, a->ai_addrlen);
        ip::address address = endpoint.address();
        if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
            addresses.push_back(address);
    }
    ::freeaddrinfo(list);
    return addresses.empty() ? "it has no address" : "";
}

void found(lookup_query& query, std::string problem, std::vector<ip::address> addresses) {
    query.problem = std::move(problem);
    query.addresses = std::move(addresses);
    for (const auto& waiter : query.waiters)
        late_callback::deliver(waiter);
}

/// Runs on its own thread.
void answer(const std::shared_ptr<lookup_query>& query) {
    std::vector<ip::address> addresses;
    std::string problem;
    try {
        problem = look_up(query->name, addresses);
    } catch (const std::exception& e) {
        problem = e.what();
    }
    fork_guard no_fork;
    auto& queries = queries_under_way();
    if (auto at = queries.find(query->name); at != queries.end() && at->second == query)
        queries.erase(at);
    found(*query, std::move(problem), std::move(addresses));
}

}  // namespace

name_lookup::name_lookup(const std::string& name,
                         const boost::asio::any_io_executor& executor,
                         callback then) {
    fork_guard no_fork;
    auto& queries = queries_under_way();
    auto known = queries.find(name);
    auto query = known != queries.end() ? known->second : std::make_shared<lookup_query>();
    then_ = std::make_unique<late_callback>(
        executor, [query, then = std::move(then)] { then(query->problem, query->addresses); });
    query->waiters.push_back(then_->address());
    if (known != queries.end())
        return;
    query->name = name;
    try {
        run_detached([query] { answer(query); });
        queries[name] = query;
    } catch (const std::exception& e) {
        started_ = false;
        found(*query, std::string("no thread to look it up: ") + e.what(), {});
    }
}

}  // namespace corozk::detail
