// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"
#include "complete.hpp"
#include "exit_code.hpp"
#include "manual.hpp"
#include "process_state.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <sstream>

using namespace corozk::program;
namespace asio = boost::asio;

namespace {

/// A deadline holds for connecting, too.
corozk::client_options options_for(const command& chosen, const settings& s) {
    corozk::client_options options = to_client_options(s);
    if (auto patience = chosen.patience()) {
        bool said = s.connect_timeout.has_value() && s.connect_timeout->count() > 0;
        options.connect_timeout = said ? std::min(*patience, *s.connect_timeout) : *patience;
    }
    return options;
}

asio::awaitable<int> with_client(command& chosen, const settings& s, interruption& interrupts) {
    corozk::client zk;
    std::exception_ptr failure;
    int code = failed;
    try {
        corozk::client_options options = options_for(chosen, s);
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
    interrupts.close();
    co_return code;
}

int run(command& chosen, const settings& s) {
    signal_sets signals = block_signals();
    asio::io_context context(1);
    interruption interrupts(context.get_executor(), signals);
    int code = failed;
    std::exception_ptr failure;
    asio::co_spawn(
        context, with_client(chosen, s, interrupts), [&](std::exception_ptr e, int result) {
            failure = e;
            code = result;
        });
    context.run();
    if (failure)
        code = complain_about(failure, s.json);
    if (code > by_signal && interrupts.got(code - by_signal))
        end_by(code - by_signal);
    return code;
}

/// What is wrong with the command line, or the help that it asks for.
int answer(const application& known, const CLI::ParseError& e) {
    std::ostringstream out;
    std::ostringstream err;
    if (known.app().exit(e, out, err) != 0) {
        complain(e.what(), known.options().json);
        return bad_usage;
    }
    print(out.str());
    return done;
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
        return answer(known, e);
    }
    known.selected().read_input(known.options());
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
