// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include <corozk/recipe/contention_inspector.hpp>

namespace corozk::program {

namespace {

class break_command final : public command {
public:
    explicit break_command(CLI::App& app) {
        app.add_option(
               "PATH",
               path_,
               "a contender's znode, as shown by 'corozk contenders'; with --holder its parent")
            ->required()
            ->each(check_path);
        app.add_flag("--holder", holders_, "break what is held now");
        add_duration(app,
                     "--ask",
                     ask_,
                     "request the release first, and break only what is held after this");
        app.footer(
            R"(The owner is notified that it has lost what it held, or that it no longer waits, and the
next contender proceeds. The owner may still be working for a moment: break what a dead
or stopped process holds, or let the protected resource reject smaller fencing tokens.
Supports the same recipes as corozk contenders: not Kazoo's Semaphore, and --holder breaks
all leases of Curator's semaphores. Curator's latches and leases have no release requests:
for them, --ask fails, and breaks nothing.

Exit code 1 if there was nothing to break.

Examples
  corozk break --holder /backup
  corozk break --holder --ask 30s /backup
  corozk break /backup/5c0e...-lock-0000000042)");
    }

    void check(const settings&) override {
        if (path_ == "/")
            throw usage_error("'/' is the root, not a contender");
        if (!holders_ && path_.rfind('/') == 0)
            throw usage_error(
                fmt::format("{} has no parent: name a contender's znode, or use --holder", path_));
    }

    asio::awaitable<int> run(command_context& context) override {
        return context.interrupts.race(break_all(context));
    }

private:
    asio::awaitable<int> break_all(command_context& context) {
        contention_inspector queue(context.zk,
                                   holders_ ? path_ : path_.substr(0, path_.rfind('/')));
        std::vector<contender_info> contenders = co_await queue.list_contenders();
        std::erase_if(contenders, [this](const contender_info& c) {
            return holders_ ? !c.holds : c.path != path_;
        });
        if (ask_) {
            for (const contender_info& c : contenders) {
                auto [ec] = co_await queue.request_release(c.path, as_tuple);
                if (ec && ec != zk_errc::no_node)
                    throw error(ec, "break", c.path);
            }
        }
        // All have the same time, which begins when they were asked.
        const auto asked = std::chrono::steady_clock::now();
        int code = answer_is_no;
        for (const contender_info& c : contenders) {
            bool broken = true;
            error_code ec;
            if (ask_)
                std::tie(ec, broken) =
                    co_await queue.insist_on_release(c.path, left(asked), as_tuple);
            else
                std::tie(ec) = co_await queue.break_contender(c.path, as_tuple);
            if (ec == zk_errc::no_node && !ask_)
                continue;  // released meanwhile
            if (ec == zk_errc::no_node)
                broken = false;  // released as it was asked to
            else if (ec)
                throw error(ec, "break", c.path);
            code = done;
            context.out.result(fmt::format("{} {}{}",
                                           broken ? "broke" : "released",
                                           printable(c.path),
                                           c.data.empty() ? "" : " of " + printable(c.data)),
                               {{"node", c.path}, {"who", c.data}, {"broken", broken}});
        }
        if (code == answer_is_no) {
            const char* problem = holders_ ? "no client holds it" : "no such contender";
            complain(fmt::format("{}: {}", path_, problem), context.options.json);
        }
        co_return code;
    }

    std::chrono::steady_clock::duration left(time_point asked) const {
        const auto until = time_limit(*ask_).from(asked);
        return std::max<std::chrono::steady_clock::duration>(
            until - std::chrono::steady_clock::now(), std::chrono::milliseconds(0));
    }

    std::string path_;
    bool holders_ = false;
    std::optional<std::chrono::milliseconds> ask_;
};

}  // namespace

const command_entry break_entry{"break",
                                "NODE | --holder PATH",
                                "take a lock away from its holder",
                                make_command<break_command>};

}  // namespace corozk::program
