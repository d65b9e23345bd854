// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>

boost::asio::awaitable<void> erase_leftovers(corozk::client& zk, std::string path) {
    auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    auto [ec] = co_await zk.erase_tree(path, tuple);
    if (ec && ec != corozk::zk_errc::no_node)
        throw corozk::error(ec, "erase_tree", path);
}

int run_program(int argc, char** argv, boost::asio::awaitable<void> (*work)(std::string hosts)) {
    boost::asio::io_context context;
    int status = 0;
    auto ended = [&status](std::exception_ptr failure) {
        try {
            if (failure)
                std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::cerr << e.what() << '\n';
            status = 1;
        }
    };
    boost::asio::co_spawn(context, work(argc > 1 ? argv[1] : "127.0.0.1:2181"), ended);
    context.run();
    return status;
}
