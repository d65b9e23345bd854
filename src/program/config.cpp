// SPDX-License-Identifier: Apache-2.0
#include "base64.hpp"
#include "command.hpp"
#include "json_text.hpp"
#include "outage.hpp"
#include <corozk/recipe/configuration.hpp>

namespace corozk::program {

namespace {

class config_command final : public command {
public:
    explicit config_command(CLI::App& app) : words_(app, {"get", "publish", "watch"}, "publish") {
        app.add_option("--layout",
                       layout_,
                       "single (the default): one value in one znode; ready: several parts, and a "
                       "'ready' znode; versioned: several parts, switched at once")
            ->check(one_of(std::vector<std::string>{"single", "ready", "versioned"}));
        add_number<std::uint64_t>(
            app, "-c,--count", count_, "watch: end after this many values (default: never)");
        app.footer(R"(Actions
  get      prints the value; exit code 1 if there is none
  publish  writes the value: WORDS, or standard input without them; a value that begins
           with a dash follows --
  watch    prints the value, and each later one

With --layout ready or versioned a configuration has several parts, NAME=VALUE or
NAME=@FILE. They are published together, and readers always see one whole version.

Examples
  corozk config publish /app/motd 'back at noon'
  corozk config get /app/motd
  corozk config publish /app/jvm -- -Xmx2g
  corozk config publish --layout versioned /app/proxy routes=@routes.json limit=100
  corozk config watch --json --layout versioned /app/proxy | ./apply)");
    }

    void check(const settings& s) override {
        if (!words_.is("publish"))
            return;
        std::vector<std::string> values = words_.words(s);
        if (layout_ == "single") {
            if (values.size() > 1)
                throw usage_error("one value is published: quote it as one word");
            value_ = values.empty() ? read_standard_input() : values.front();
            return;
        }
        if (values.empty())
            throw usage_error("publish needs NAME=VALUE or NAME=@FILE");
        for (const std::string& word : values) {
            auto [part, added] = parts_.insert(parse_part(word));
            if (!added)
                throw usage_error(fmt::format("'{}' is given twice", part->first));
        }
        using names = std::vector<std::string>;
        for (const std::string& own :
             layout_ == "ready" ? names{"ready", "writer"} : names{".writer"}) {
            if (parts_.contains(own))
                throw usage_error(fmt::format("'{}' is the name of the layout's own znode", own));
        }
    }

    /// A value that begins with a dash.
    command_line takes_command() const override {
        return words_.is("publish") ? command_line::optional : command_line::none;
    }

    asio::awaitable<int> run(command_context& context) override {
        configuration_options options;
        options.acl = context.options.acl;
        if (layout_ == "single")
            return act<configuration>(context, value_, options);
        return layout_ == "ready" ? act<ready_configuration>(context, parts_, options)
                                  : act<versioned_configuration>(context, parts_, options);
    }

private:
    template <class Configuration, class Value>
    asio::awaitable<int> act(command_context& context,
                             const Value& value,
                             configuration_options options) {
        Configuration c(context.zk, words_.path(), options);
        if (words_.is("publish")) {
            co_await context.interrupts.race(c.publish(value));
            co_return done;
        }
        decltype(c.current()) state;
        for (std::uint64_t n = 0; n < wanted(); ++n) {
            state = co_await context.interrupts.race(next(context, c, state));
            bool exists = show(context, state);
            if (!exists && words_.is("get"))
                co_return answer_is_no;
        }
        co_return done;
    }

    /// `get` does not wait for servers that are away.
    template <class Configuration, class State>
    auto next(command_context& context, Configuration& c, const State& seen) const {
        return words_.is("get")
                   ? while_connected(context.zk, c.next(seen))
                   : reporting_outages(
                         context, "the connection was lost; still watching", c.next(seen));
    }

    /// @return whether there is a value
    bool show(command_context& context, const node_state& state) const {
        boost::json::object value{{"exists", state.exists}};
        if (state.exists) {
            value["version"] = state.stat.version;
            value["data"] = state.data;
        }
        if (state.exists || words_.is("watch") || context.options.json)
            context.out.result(state.data, value);
        return state.exists;
    }

    bool show(command_context& context, const configuration_version& version) const {
        bool broken = version.status == configuration_status::broken;
        bool published = version.status == configuration_status::published;
        boost::json::object value{{"status",
                                   published ? "published"
                                   : broken  ? "broken"
                                             : "absent"}};
        std::string text;
        if (version.parts) {
            boost::json::object parts;
            boost::json::object encoded;
            for (const auto& [name, data] : *version.parts) {
                parts[name] = valid_text(data);
                if (!is_utf8(data))
                    encoded[name] = to_base64(data);
                text += fmt::format("{}={}\n", name, data);
            }
            value["number"] = version.number;
            value["parts"] = std::move(parts);
            // Not among the parts: one of them may have any name.
            if (!encoded.empty())
                value["parts_base64"] = std::move(encoded);
        }
        if (words_.is("watch"))
            text += "\n";
        if (!text.empty() || context.options.json)
            context.out.result(text, value);
        if (broken)
            complain("incomplete: a writer died while publishing, or this is another --layout",
                     context.options.json);
        return version.parts != nullptr;
    }

    std::uint64_t wanted() const {
        if (words_.is("get"))
            return 1;
        return count_ == 0 ? std::numeric_limits<std::uint64_t>::max() : count_;
    }

    path_and_action words_;
    std::string layout_ = "single";
    std::uint64_t count_ = 0;
    std::string value_;
    configuration_parts parts_;
};

}  // namespace

const command_entry config_entry{"config",
                                 "get|publish|watch PATH [VALUE | NAME=VALUE...] [-- VALUE...]",
                                 "read, publish or watch a configuration",
                                 make_command<config_command>};

}  // namespace corozk::program
