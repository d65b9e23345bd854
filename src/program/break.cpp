// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "exit_code.hpp"
#include "option_types.hpp"
#include <corozk/recipe/any_line.hpp>

#include <fmt/format.h>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class break_command final : public command {
public:
    std::string synopsis() const override { return "NODE | --holder PATH"; }

    void describe(CLI::App& app) override {
        app.add_option("PATH",
                       path_,
                       "a contender's node, as 'corozk contenders' shows it; or, "
                       "with --holder, the folder")
            ->required();
        app.add_flag("--holder", holders_, "whoever holds it now");
        add_duration(app,
                     "--ask",
                     ask_,
                     "ask to release it first, and break it only if that did not happen in time");
        app.footer(
            "The owner is told that it has lost what it held, or that it waits no more, and the\n"
            "next one proceeds. The owner may still be at work for a moment: break what a dead or\n"
            "stopped process holds, or let what is protected refuse smaller fencing tokens.\n"
            "\n"
            "Exit code 1 if there was nothing to break.\n"
            "\n"
            "Examples\n"
            "  corozk break --holder /backup\n"
            "  corozk break --holder --ask 30s /backup\n"
            "  corozk break /backup/5c0e...-lock-0000000042");
    }

    void check(const settings&) override {
        check_path(path_);
        auto slash = path_.rfind('/');
        if (path_.empty() || path_.front() != '/' || path_.size() < 2)
            throw bad_word(fmt::format("'{}' is no path of a node", path_));
        if (!holders_ && slash == 0)
            throw bad_word(fmt::format(
                "{} is a folder; name a contender's node in it, or say --holder", path_));
    }

    asio::awaitable<int> run(surroundings& here) override {
        int code = co_await here.interrupts.race<int>(break_all(here));
        co_return code;
    }

private:
    asio::awaitable<int> break_all(surroundings& here) {
        any_line line(here.zk, holders_ ? path_ : path_.substr(0, path_.rfind('/')));
        std::vector<contender_info> contenders = co_await line.contenders();
        int broken = 0;
        for (const contender_info& c : contenders) {
            if (holders_ ? !c.holds : c.path != path_)
                continue;
            bool removed = true;
            bool there = true;
            try {
                if (ask_)
                    removed = co_await line.insist_on_release(c.path, *ask_);
                else
                    co_await line.break_contender(c.path);
            } catch (const boost::system::system_error& e) {
                if (e.code() != zk_errc::no_node)
                    throw;
                there = false;  // it went by itself
            }
            if (!there)
                continue;
            ++broken;
            boost::json::object value;
            value["node"] = c.path;
            value["who"] = c.data;
            value["broken"] = removed;
            here.out.result(fmt::format("{} {}{}",
                                        removed ? "broke" : "released",
                                        printable(c.path),
                                        c.data.empty() ? "" : " of " + printable(c.data)),
                            value);
        }
        if (broken == 0 && !here.options.json)
            complain(fmt::format("{}: nobody there", path_), false);
        co_return broken > 0 ? done : answer_is_no;
    }

    std::string path_;
    bool holders_ = false;
    std::optional<std::chrono::milliseconds> ask_;
};

}  // namespace

std::unique_ptr<command> make_break() {
    return std::make_unique<break_command>();
}

}  // namespace corozk::program
