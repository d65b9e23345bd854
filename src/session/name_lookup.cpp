// SPDX-License-Identifier: Apache-2.0
#include "session/name_lookup.hpp"

#include "c_client/fork_guard.hpp"

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

// A fork_guard is held wherever these are touched: a child must find them in order.
struct name_lookup::waiter {
    boost::asio::any_io_executor executor;
    callback then;
};

struct name_lookup::query {
    std::string name;
    std::vector<std::weak_ptr<waiter>> waiters;
};

namespace {

/// What is being looked up.
template <class Query>
struct lookup_table {
    std::map<std::string, std::shared_ptr<Query>> queries;
    unsigned process = forks();

    /// Never destroyed: a thread may still be there when static objects go.
    static lookup_table& instance() {
        static auto* const table = new lookup_table;
        // Threads are not inherited: nobody answers what a parent has asked.
        if (std::exchange(table->process, forks()) != forks())
            table->queries.clear();
        return *table;
    }
};

/// A thread takes the mask of the one that makes it; the program's signals are not for this one.
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

/// @return what is wrong, or empty.
std::string look_up(const std::string& name, std::vector<ip::address>& addresses) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    errno = 0;
    int rc = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    int error = errno;
    if (rc != 0) {
        // Its own text for that is "System error".
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

}  // namespace

name_lookup::name_lookup(const std::string& name,
                         const boost::asio::any_io_executor& executor,
                         callback then)
    : waiter_(std::make_shared<waiter>()) {
    waiter_->executor =
        boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
    waiter_->then = std::move(then);
    fork_guard no_fork;
    auto& queries = lookup_table<query>::instance().queries;
    if (auto known = queries.find(name); known != queries.end()) {
        known->second->waiters.push_back(waiter_);
        return;
    }
    auto asked = std::make_shared<query>();
    asked->name = name;
    asked->waiters.push_back(waiter_);
    try {
        signals_blocked no_signals;
        std::thread([asked] { answer(asked); }).detach();
        queries[name] = asked;
    } catch (const std::exception& e) {
        deliver(*asked, std::string("no thread to look it up: ") + e.what(), {});
    }
}

name_lookup::~name_lookup() {
    waiter unwanted;  // destroyed with no lock held: it may own its owner
    fork_guard no_fork;
    std::swap(unwanted, *waiter_);
}

void name_lookup::answer(const std::shared_ptr<query>& asked) {
    std::vector<ip::address> addresses;
    std::string problem;
    try {
        problem = look_up(asked->name, addresses);
    } catch (const std::exception& e) {
        problem = e.what();
    }
    fork_guard no_fork;
    auto& queries = lookup_table<query>::instance().queries;
    if (auto at = queries.find(asked->name); at != queries.end() && at->second == asked)
        queries.erase(at);
    deliver(*asked, problem, addresses);
}

/// An executor's context cannot go meanwhile: what belongs to it withdraws its look-ups first.
void name_lookup::deliver(query& asked,
                          const std::string& problem,
                          const std::vector<ip::address>& addresses) {
    for (const std::weak_ptr<waiter>& weak : asked.waiters) {
        std::shared_ptr<waiter> w = weak.lock();
        if (!w || !w->then)
            continue;
        boost::asio::any_io_executor executor = std::exchange(w->executor, {});
        try {
            boost::asio::post(executor, [w, problem, addresses] {
                if (callback then = std::exchange(w->then, nullptr))
                    then(problem, addresses);
            });
        } catch (const std::exception&) {
            // No memory. Whoever waits for it has a time limit.
        }
    }
}

}  // namespace corozk::detail
