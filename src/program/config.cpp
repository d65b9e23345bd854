// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "exit_code.hpp"
#include "json_text.hpp"
#include "path_and_action.hpp"
#include <corozk/recipe/configuration.hpp>

#include <fmt/format.h>

#include <limits>

namespace corozk::program {

namespace {

namespace asio = boost::asio;

class config_command final : public command {
public:
    std::string synopsis() const override {
        return "get|publish|watch PATH [VALUE | NAME=VALUE...] [-- VALUE...]";
    }

    void describe(CLI::App& app) override {
        words_.describe(app);
        app.add_option("--layout",
                       layout_,
                       "single (the default): one value in one node; ready: several parts behind a "
                       "'ready' node; versioned: several parts, switched at once")
            ->check(CLI::IsMember({"single", "ready", "versioned"}));
        add_number<std::uint64_t>(
            app, "-c,--count", count_, "watch: end after so many values (default: never)");
        app.footer(
            "Actions\n"
            "  get      prints the value; exit code 1 if there is none\n"
            "  publish  writes the value: WORDS, or standard input without them; what begins with\n"
            "           a dash stands behind --\n"
            "  watch    prints the value, and each later one\n"
            "\n"
            "With --layout ready or versioned a configuration has several parts, NAME=VALUE or\n"
            "NAME=@FILE. They are published together, and readers see one whole version always.\n"
            "\n"
            "Examples\n"
            "  corozk config publish /app/motd 'back at noon'\n"
            "  corozk config get /app/motd\n"
            "  corozk config publish /app/jvm -- -Xmx2g\n"
            "  corozk config publish --layout versioned /app/proxy routes=@routes.json limit=100\n"
            "  corozk config watch --json --layout versioned /app/proxy | ./apply");
    }

    void check(const settings& s) override {
        words_.check();
        if (words_.action() == "publish") {
            values_ = words_.rest();
            values_.insert(values_.end(), s.command.begin(), s.command.end());
            if (layout_ == "single") {
                if (values_.size() > 1)
                    throw bad_word("one value is published: write it in one word");
                return;
            }
            if (values_.empty())
                throw bad_word("publish needs NAME=VALUE or NAME=@FILE");
            for (const std::string& word : values_) {
                auto [part, added] = parts_.insert(parse_part(word));
                if (!added)
                    throw bad_word(fmt::format("'{}' is there twice", part->first));
            }
            if (layout_ == "ready" && parts_.contains("ready"))
                throw bad_word("'ready' is the name of the layout's own node");
        } else if (!words_.rest().empty()) {
            throw bad_word(fmt::format("'{}' is one word too many", words_.rest().front()));
        }
    }

    /// A value that begins with a dash.
    command_line takes_command() const override {
        return words_.action() == "publish" ? command_line::optional : command_line::none;
    }

    void read_input(const settings&) override {
        if (words_.action() == "publish" && values_.empty())
            values_.push_back(read_standard_input());
    }

    asio::awaitable<int> run(surroundings& here) override {
        int code = 0;
        if (layout_ == "single") {
            configuration c(here.zk, words_.path(), here.options.acl);
            code = co_await single(here, c);
        } else {
            configuration_options options;
            options.acl = here.options.acl;
            if (layout_ == "ready") {
                ready_configuration c(here.zk, words_.path(), options);
                code = co_await several(here, c);
            } else {
                versioned_configuration c(here.zk, words_.path(), options);
                code = co_await several(here, c);
            }
        }
        co_return code;
    }

private:
    asio::awaitable<int> single(surroundings& here, configuration& c) {
        if (words_.action() == "publish") {
            co_await here.interrupts.race<void>(c.publish(values_.front()));
            co_return 0;
        }
        std::uint64_t seen = 0;
        for (std::uint64_t n = 0; n < wanted(); ++n) {
            node_state state = co_await here.interrupts.race<node_state>(c.next(seen));
            seen = state.revision;
            boost::json::object value;
            value["exists"] = state.exists;
            if (state.exists) {
                value["version"] = state.stat.version;
                value["data"] = state.data;
            }
            if (state.exists || words_.action() == "watch" || here.options.json)
                here.out.result(state.data, value);
            if (!state.exists && words_.action() == "get")
                co_return answer_is_no;
        }
        co_return 0;
    }

    asio::awaitable<int> several(surroundings& here, basic_configuration& c) {
        if (words_.action() == "publish") {
            co_await here.interrupts.race<void>(c.publish(parts_));
            co_return 0;
        }
        std::uint64_t seen = 0;
        for (std::uint64_t n = 0; n < wanted(); ++n) {
            configuration_version version =
                co_await here.interrupts.race<configuration_version>(c.next(seen));
            seen = version.revision;
            show(here, version);
            if (!version.parts && words_.action() == "get")
                co_return answer_is_no;
        }
        co_return 0;
    }

    void show(surroundings& here, const configuration_version& version) const {
        boost::json::object value;
        value["status"] = version.status == configuration_status::published ? "published"
                          : version.status == configuration_status::broken  ? "broken"
                                                                            : "absent";
        std::string text;
        if (version.parts) {
            boost::json::object parts;
            boost::json::object encoded;
            for (const auto& [name, data] : *version.parts) {
                parts[name] = valid_text(data);
                if (!is_utf8(data))
                    encoded[name] = base64(data);
                text += fmt::format("{}={}\n", name, data);
            }
            value["number"] = version.number;
            value["parts"] = std::move(parts);
            // Beside them: a part may be called anything.
            if (!encoded.empty())
                value["parts_base64"] = std::move(encoded);
        }
        if (words_.action() == "watch" && !here.options.json)
            text += "\n";
        if (!text.empty() || here.options.json)
            here.out.result(text, value);
        if (version.status == configuration_status::broken)
            complain("a writer died half-way; publish again", here.options.json);
    }

    std::uint64_t wanted() const {
        if (words_.action() == "get")
            return 1;
        return count_ == 0 ? std::numeric_limits<std::uint64_t>::max() : count_;
    }

    path_and_action words_{"config", {"get", "publish", "watch"}};
    std::string layout_ = "single";
    std::uint64_t count_ = 0;
    std::vector<std::string> values_;
    configuration_parts parts_;
};

}  // namespace

std::unique_ptr<command> make_config() {
    return std::make_unique<config_command>();
}

}  // namespace corozk::program
