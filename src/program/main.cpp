// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"
#include "outage.hpp"
#include "process_state.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <exception>
#include <sstream>

using namespace corozk::program;
namespace asio = boost::asio;

namespace {

/// A deadline includes connecting.
corozk::client_options options_for(const command& chosen, const settings& s) {
    corozk::client_options options = to_client_options(s);
    if (auto patience = chosen.patience()) {
        bool given = s.connect_timeout.has_value() && s.connect_timeout->count() > 0;
        options.connect_timeout = given ? std::min(*patience, *s.connect_timeout) : *patience;
    }
    return options;
}

asio::awaitable<int> with_client(command& chosen, const settings& s, interruption& interrupts) {
    corozk::client zk;
    std::exception_ptr failure;
    int code = failed;
    try {
        corozk::client_options options = options_for(chosen, s);
        zk = co_await interrupts.race(corozk::client::connect(options));
        command_context context{zk, s, interrupts};
        code = co_await chosen.run(context);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure)
        code = complain_about(reason_of(failure, zk), s.json);
    // Deletes the ephemeral znodes that are left.
    co_await zk.close(as_tuple);
    interrupts.close();
    co_return code;
}

int run(command& chosen, const settings& s) {
    signal_sets signals = block_signals();
    asio::io_context context(1);
    interruption interrupts(context.get_executor(), signals);
    auto result = asio::co_spawn(context, with_client(chosen, s, interrupts), asio::use_future);
    context.run();
    int code = result.get();
    if (code > by_signal && interrupts.got(code - by_signal))
        end_by(code - by_signal);
    return code;
}

int run_words(application& known, std::vector<std::string> words) {
    if (!words.empty() && words.front() == "--complete") {
        words.erase(words.begin());
        std::string lines;
        for (const std::string& word : complete(known, words))
            lines += word + '\n';
        if (!lines.empty())
            print(lines);
        return done;
    }
    if (words.size() == 1 && words.front() == "--manual") {
        print(manual(known.app()));
        return done;
    }
    try {
        known.parse(std::move(words));
    } catch (const CLI::ParseError& e) {
        std::ostringstream help;
        std::ostringstream problem;
        if (known.app().exit(e, help, problem) != 0)
            throw usage_error(e.what());
        print(help.str());
        return done;
    }
    return run(known.selected(), known.options());
}

}  // namespace

int main(int argc, char** argv) {
    set_up_process();
    std::vector<std::string> words(argv + 1, argv + argc);
    hide_credentials(argc, argv);
    application known;
    try {
        return run_words(known, std::move(words));
    } catch (...) {
        return complain_about(std::current_exception(), known.options().json);
    }
}
