// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A look-up of a host name that nobody ever waits for: the C library's can neither be cancelled nor
/// limited in time, and Asio's resolver joins the thread that is inside of it. This one runs on a
/// detached thread, one for each name that is being looked up, whatever asks for it.
class name_lookup {
public:
    /// The addresses, or why there are none, in words.
    using callback =
        std::function<void(std::string problem, std::vector<boost::asio::ip::address> addresses)>;

    /// Calls back on the executor, which has work until then.
    name_lookup(const std::string& name,
                const boost::asio::any_io_executor& executor,
                callback then);

    name_lookup(const name_lookup&) = delete;
    name_lookup& operator=(const name_lookup&) = delete;

    /// From now on nothing is called. On the executor, or when its context goes.
    ~name_lookup();

private:
    struct waiter;
    struct query;
    static void answer(const std::shared_ptr<query>& asked);
    static void deliver(query& asked,
                        const std::string& problem,
                        const std::vector<boost::asio::ip::address>& addresses);

    std::shared_ptr<waiter> waiter_;
};

}  // namespace corozk::detail
