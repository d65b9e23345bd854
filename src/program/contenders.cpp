// SPDX-License-Identifier: Apache-2.0
#include "contender_table.hpp"
#include "outage.hpp"
#include "session_addresses.hpp"
#include <corozk/recipe/contention_inspector.hpp>

#include <algorithm>
#include <unistd.h>

namespace corozk::program {

namespace {

class contenders_command final : public command {
public:
    explicit contenders_command(CLI::App& app) {
        app.add_option("PATH", path_, "the parent znode of a lock, semaphore or election")
            ->required()
            ->each(check_recipe_path);
        app.add_flag("--watch", watch_, "continue, and show each change");
        app.footer(
            R"(Shows holders and waiters, in order: since when (by the server's clock), in which session,
from which address, and with which --identity. Supports every recipe that queues, and
those of Curator and Kazoo, except Kazoo's Semaphore. All leases of Curator's semaphores
are shown as holders, since their limit is not stored. --watch continues while the servers
are unreachable, and shows what has changed when they are reachable again.

Addresses come from the servers' command 'cons'; if it is not allowed
(4lw.commands.whitelist), a dash is shown. Values of more than 200 columns are
shortened, except with --json.

Examples
  corozk contenders /backup
  corozk contenders --watch /backup
  corozk contenders --json /backup | jq -r '.contenders[] | select(.holds) | .who')");
    }

    asio::awaitable<int> run(command_context& context) override {
        attempt<void> once = [&] { return show(context); };
        if (watch_) {
            co_await through_outages(
                context, wait_, "the connection was lost; waiting for a server", once);
        } else {
            co_await context.interrupts.race(once());
        }
        co_return done;
    }

private:
    asio::awaitable<void> show(command_context& context) {
        contention_inspector queue(context.zk, path_);
        for (;;) {
            watch changed;
            if (watch_)
                changed = co_await set_watch(context.zk);
            std::vector<contender_info> contenders = co_await queue.list_contenders();
            bool unknown = std::any_of(contenders.begin(), contenders.end(), [this](auto& c) {
                return !addresses_.contains(c.session_id);
            });
            if (unknown)
                addresses_ = co_await session_addresses(context.options.hosts);
            print(context, contenders);
            if (!watch_)
                co_return;
            co_await next_change(changed);
        }
    }

    /// A watch on the parent's children, or on its creation.
    asio::awaitable<watch> set_watch(client& zk) {
        for (;;) {
            auto [ec, listed] = co_await zk.watch_children(path_, as_tuple);
            if (!ec)
                co_return std::move(listed.changed);
            if (ec != zk_errc::no_node)
                throw error(ec, "watch", path_);
            watched_stat found = co_await zk.watch_exists(path_);
            if (!found.stat)
                co_return std::move(found.changed);
        }
    }

    /// On a terminal the ages are updated every second.
    static asio::awaitable<void> next_change(watch& changed) {
        using namespace asio::experimental::awaitable_operators;
        // The loss of the session is a reason to look again, too.
        if (::isatty(STDOUT_FILENO))
            co_await (changed.next(as_tuple) || pause_for(std::chrono::seconds(1)));
        else
            co_await changed.next(as_tuple);
    }

    void print(command_context& context, const std::vector<contender_info>& contenders) const {
        std::string text = contender_table(path_, contenders, addresses_);
        if (watch_ && ::isatty(STDOUT_FILENO))
            text = "\033[H\033[2J" + text;
        else if (watch_)
            text += "\n";
        boost::json::array all;
        for (const contender_info& c : contenders)
            all.push_back(contender_value(c, addresses_));
        boost::json::object value{{"path", path_}, {"contenders", std::move(all)}};
        context.out.result(text, value);
    }

    std::string path_;
    bool watch_ = false;
    address_map addresses_;
};

}  // namespace

const command_entry contenders_entry{
    "contenders", "PATH", "show holders and waiters", make_command<contenders_command>};

}  // namespace corozk::program
