// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

struct lookup_waiter;

/// A look-up of a host name that is never waited for: the C library's can neither be cancelled nor
/// limited in time, and Asio's resolver joins the thread that is inside of it. This one runs on a
/// detached thread, one for each name that is being looked up.
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
    std::shared_ptr<lookup_waiter> waiter_;
};

}  // namespace corozk::detail
