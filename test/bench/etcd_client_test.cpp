// SPDX-License-Identifier: Apache-2.0
#include "systems/lock_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <exception>

namespace corozk::testing::etcd_client_test {

using namespace corozk::bench;

TEST_CASE("client of etcd: once it is closed, it asks no server any more") {
    boost::asio::io_context context;
    lock_wish wish;
    wish.hosts = "127.0.0.1:1";
    auto client = make_etcd_client(context.get_executor(), wish);
    client->close();
    boost::system::error_code failure;
    boost::asio::co_spawn(
        context, client->acquire(), [&](const std::exception_ptr& problem, std::int64_t) {
            try {
                std::rethrow_exception(problem);
            } catch (const boost::system::system_error& e) {
                failure = e.code();
            }
        });
    context.run();
    CHECK(failure == boost::asio::error::operation_aborted);
}

}  // namespace corozk::testing::etcd_client_test
