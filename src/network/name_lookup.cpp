// SPDX-License-Identifier: Apache-2.0
#include "network/name_lookup.hpp"

#include "network/fork_guard.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <map>
#include <netdb.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace corozk::detail {

namespace ip = boost::asio::ip;

// Accessed under a `fork_guard`, so that they are consistent in a child process.
struct lookup_waiter {
    boost::asio::any_io_executor executor;
    name_lookup::callback then;
};

namespace {

struct lookup_query {
    std::string name;
    std::vector<std::weak_ptr<lookup_waiter>> waiters;
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

/// A new thread inherits the signal mask; the program's signals must not be delivered to it.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() {
        if (blocked_)
            pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t before_;
    bool blocked_ = false;
};

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

/// The executor's context exists, as objects that belong to it withdraw their look-ups first.
void deliver(const lookup_query& query,
             const std::string& problem,
             const std::vector<ip::address>& addresses) {
    for (const auto& weak : query.waiters) {
        std::shared_ptr<lookup_waiter> w = weak.lock();
        if (!w || !w->then)
            continue;
        boost::asio::any_io_executor executor = std::exchange(w->executor, {});
        try {
            boost::asio::post(executor, [w, problem, addresses] {
                if (auto then = std::exchange(w->then, nullptr))
                    then(problem, addresses);
            });
        } catch (const std::exception&) {
            // Out of memory. The waiter has a time limit.
        }
    }
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
    deliver(*query, problem, addresses);
}

}  // namespace

name_lookup::name_lookup(const std::string& name,
                         const boost::asio::any_io_executor& executor,
                         callback then)
    : waiter_(std::make_shared<lookup_waiter>()) {
    waiter_->executor =
        boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
    waiter_->then = std::move(then);
    fork_guard no_fork;
    auto& queries = queries_under_way();
    if (auto known = queries.find(name); known != queries.end()) {
        known->second->waiters.push_back(waiter_);
        return;
    }
    auto query = std::make_shared<lookup_query>();
    query->name = name;
    query->waiters.push_back(waiter_);
    try {
        signals_blocked no_signals;
        std::thread([query] { answer(query); }).detach();
        queries[name] = query;
    } catch (const std::exception& e) {
        deliver(*query, std::string("no thread to look it up: ") + e.what(), {});
    }
}

name_lookup::~name_lookup() {
    lookup_waiter unwanted;  // destroyed without the lock: it may own this object's owner
    fork_guard no_fork;
    std::swap(unwanted, *waiter_);
}

}  // namespace corozk::detail
