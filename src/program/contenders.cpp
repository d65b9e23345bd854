// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contender_table.hpp"
#include "option_types.hpp"
#include "outage.hpp"
#include "session_addresses.hpp"
#include <corozk/recipe/any_line.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <unistd.h>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class contenders_command final : public command {
public:
    std::string synopsis() const override { return "PATH"; }

    void describe(CLI::App& app) override {
        app.add_option("PATH", path_, "the folder of a lock, semaphore or election")->required();
        app.add_flag("--watch", watch_, "go on, and show each change");
        app.footer(
            "Who holds and who waits, in order: since when (by the server's clock), in which\n"
            "session, from which address, and what each says of itself (--identity). Knows every\n"
            "recipe that queues, and the names that Curator and Kazoo give. --watch goes on while\n"
            "the servers are away, and shows what has changed when they are back.\n"
            "\n"
            "Addresses come from the servers' word 'cons'; where it is not allowed\n"
            "(4lw.commands.whitelist) there is a dash.\n"
            "\n"
            "Examples\n"
            "  corozk contenders /backup\n"
            "  corozk contenders --watch /backup\n"
            "  corozk contenders --json /backup | jq -r '.contenders[] | select(.holds) | .who'");
    }

    void check(const settings&) override { check_path(path_); }

    asio::awaitable<int> run(surroundings& here) override {
        auto once = [&] { return show(here); };
        auto until = watch_ ? std::chrono::steady_clock::time_point::max()
                            : std::chrono::steady_clock::time_point::min();
        co_await through_outages<void>(
            here, until, "the connection was lost; looking again when there is one", once);
        co_return 0;
    }

private:
    asio::awaitable<void> show(surroundings& here) {
        any_line line(here.zk, path_);
        for (;;) {
            watch changed;
            if (watch_)
                changed = co_await leave_watch(here.zk);
            std::vector<contender_info> contenders = co_await line.contenders();
            bool unknown =
                std::any_of(contenders.begin(), contenders.end(), [this](const contender_info& c) {
                    return !addresses_.contains(c.session_id);
                });
            if (unknown)
                addresses_ = co_await session_addresses(here.options.hosts);
            print(here, contenders);
            if (!watch_)
                co_return;
            co_await next_change(changed);
        }
    }

    /// On the folder's children, or on its creation.
    asio::awaitable<watch> leave_watch(client& zk) {
        auto tuple = asio::as_tuple(asio::use_awaitable);
        for (;;) {
            auto [ec, listed] = co_await zk.watch_children(path_, tuple);
            if (!ec)
                co_return std::move(listed.changed);
            if (ec != zk_errc::no_node)
                throw boost::system::system_error(ec, path_);
            watched_stat found = co_await zk.watch_exists(path_);
            if (!found.stat)
                co_return std::move(found.changed);
        }
    }

    /// A person sees the ages grow; for a program only changes count.
    asio::awaitable<void> next_change(watch& changed) {
        using namespace asio::experimental::awaitable_operators;
        auto tuple = asio::as_tuple(asio::use_awaitable);
        if (!::isatty(STDOUT_FILENO)) {
            // A session that was lost is a reason to look, too.
            co_await changed.next(tuple);
            co_return;
        }
        asio::steady_timer second(co_await asio::this_coro::executor, std::chrono::seconds(1));
        co_await (changed.next(tuple) || second.async_wait(tuple));
    }

    void print(surroundings& here, const std::vector<contender_info>& contenders) const {
        std::string text = contender_table(path_, contenders, addresses_);
        if (watch_ && ::isatty(STDOUT_FILENO))
            text = "\033[H\033[2J" + text;
        else if (watch_)
            text += "\n";
        here.out.result(text, contender_value(path_, contenders, addresses_));
    }

    std::string path_;
    bool watch_ = false;
    address_map addresses_;
};

}  // namespace

std::unique_ptr<command> make_contenders() {
    return std::make_unique<contenders_command>();
}

}  // namespace corozk::program
