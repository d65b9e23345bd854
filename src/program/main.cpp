// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"
#include "complete.hpp"
#include "exit_code.hpp"
#include "manual.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <exception>
#include <iostream>

using namespace corozk::program;
namespace asio = boost::asio;

namespace {

asio::awaitable<int> with_client(command& chosen, const settings& s, interruption& interrupts) {
    corozk::client zk;
    std::exception_ptr failure;
    int code = failed;
    try {
        corozk::client_options options = to_client_options(s);
        zk = co_await interrupts.race<corozk::client>(corozk::client::connect(options));
        surroundings here(zk, s, interrupts);
        code = co_await chosen.run(here);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure)
        code = complain_about(failure, s.json);
    // What is still ours goes with the session.
    co_await zk.close(asio::as_tuple(asio::use_awaitable));
    co_return code;
}

int run(command& chosen, const settings& s) {
    asio::io_context context(1);
    interruption interrupts(context.get_executor());
    int code = failed;
    std::exception_ptr failure;
    asio::co_spawn(
        context, with_client(chosen, s, interrupts), [&](std::exception_ptr e, int result) {
            failure = e;
            code = result;
        });
    context.run();
    return failure ? complain_about(failure, s.json) : code;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    hide_credentials(argc, argv);
    application known;
    try {
        if (!words.empty() && words.front() == "--complete") {
            words.erase(words.begin());
            for (const std::string& word : complete(known, words))
                std::cout << word << '\n';
            return done;
        }
        if (words.size() == 1 && words.front() == "--manual") {
            std::cout << manual(known.app());
            return done;
        }
        known.parse(words);
    } catch (const CLI::ParseError& e) {
        return known.app().exit(e, std::cout, std::cerr) == 0 ? done : bad_usage;
    } catch (const bad_word& e) {
        complain(e.what(), known.options().json);
        return bad_usage;
    }
    return run(known.selected(), known.options());
}
