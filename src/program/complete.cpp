// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <sstream>

namespace corozk::program {

namespace {

using names = std::vector<std::string>;

const CLI::App* command_among(const CLI::App& app, const names& words) {
    // The first one: "put" is an action of "queue", too.
    for (const std::string& word : words) {
        for (const CLI::App* sub : app.get_subcommands({})) {
            if (sub->get_name() == word)
                return sub;
        }
    }
    return nullptr;
}

void add_options(const CLI::App* app, names& result) {
    if (!app)
        return;
    for (const CLI::Option* option : app->get_options()) {
        for (const std::string& name : option->get_lnames())
            result.push_back("--" + name);
    }
}

/// "a, b" and "{a,b}" are lists.
names split_list(std::string text) {
    names result;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ',' || c == ' '; }, '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty())
            result.push_back(line);
    }
    return result;
}

/// The values of an option that has a list of them.
names values_of(const CLI::Option& option) {
    std::string type = option.get_type_name();
    auto open = type.find('{');
    auto close = type.find('}');
    if (open == std::string::npos || close == std::string::npos)
        return {};
    return split_list(type.substr(open + 1, close - open - 1));
}

names actions_of(const CLI::App& command) {
    const CLI::Option* action = command.get_option_no_throw("ACTION");
    return action ? split_list(action->get_description()) : names();
}

/// The children of the znode before the last slash.
names paths_for(const settings& s, const std::string& word) {
    std::string parent = word.substr(0, word.rfind('/'));
    names result;
    client_options options = to_client_options(s);
    // A person waits for it.
    constexpr std::chrono::seconds usual{1}, longest{30};
    options.connect_timeout =
        std::min<std::chrono::milliseconds>(s.connect_timeout.value_or(usual), longest);
    options.logger.level = log_level::off;
    asio::io_context context(1);
    auto look = [&]() -> asio::awaitable<void> {
        auto [connected, zk] = co_await client::connect(options, as_tuple);
        if (connected)
            co_return;
        std::string listed_path = parent.empty() ? "/" : parent;
        auto [ec, listed] = co_await zk.get_children(listed_path, as_tuple);
        for (const std::string& name : listed.names)
            result.push_back(parent + "/" + name);
        co_await zk.close(as_tuple);
    };
    asio::co_spawn(context, look, asio::detached);
    context.run_for(options.connect_timeout + std::chrono::seconds(2));
    return result;
}

/// The services below the base path that was given.
names services_for(const settings& s, const names& before) {
    auto base = std::find_if(before.begin(), before.end(), [](const std::string& word) {
        return word.starts_with('/');
    });
    if (base == before.end())
        return {};
    std::string folder = base->ends_with('/') ? *base : *base + "/";
    names result = paths_for(s, folder);
    for (std::string& path : result)
        path.erase(0, folder.size());
    return result;
}

/// An option that takes a value.
const CLI::Option* option_named(const CLI::App& app,
                                const CLI::App* command,
                                const std::string& name) {
    const CLI::Option* option = command ? command->get_option_no_throw(name) : nullptr;
    if (!option)
        option = app.get_option_no_throw(name);
    const bool takes = option && name.starts_with('-') && option->get_items_expected_max() > 0;
    return takes ? option : nullptr;
}

/// Whether the command takes a path, or one more.
bool expects_path(const CLI::App& command) {
    const CLI::Option* path = command.get_option_no_throw("PATH");
    return path && path->count() < static_cast<std::size_t>(path->get_items_expected_max());
}

names candidates(application& known, const names& before, const std::string& word) {
    const CLI::App* command = command_among(known.app(), before);
    names result;
    if (!before.empty()) {
        if (const CLI::Option* option = option_named(known.app(), command, before.back()))
            return values_of(*option);
    }
    if (auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
        if (const auto* option = option_named(known.app(), command, word.substr(0, equals)))
            result = values_of(*option);
        for (std::string& value : result)
            value.insert(0, word, 0, equals + 1);
        return result;
    }
    if (word.starts_with('-')) {
        add_options(command, result);
        add_options(&known.app(), result);
        return result;
    }
    if (!command) {
        for (const CLI::App* sub : known.app().get_subcommands({}))
            result.push_back(sub->get_name());
        return result;
    }
    result = actions_of(*command);
    bool given = std::find_first_of(before.begin(), before.end(), result.begin(), result.end()) !=
                 before.end();
    if (!result.empty() && !given && !word.starts_with('/'))
        return result;
    known.parse_for_completion(before);
    if (word.starts_with('/'))
        return paths_for(known.options(), word);
    if (word.empty() && expects_path(*command))
        return paths_for(known.options(), "/");
    if (command->get_option_no_throw("SERVICE"))
        return services_for(known.options(), before);
    return {};
}

}  // namespace

std::vector<std::string> complete(application& known, const std::vector<std::string>& words) {
    if (words.empty())
        return {};
    const std::string& word = words.back();
    names result = candidates(known, names(words.begin(), words.end() - 1), word);
    // Nothing that would be refused: a path such as "//a", or a name that the servers accept only.
    std::erase_if(result, [&](const std::string& c) {
        bool known_form = !invalid_path_reason(c.starts_with('/') ? c : "/" + c);
        return !c.starts_with(word) || !known_form;
    });
    std::sort(result.begin(), result.end());
    // --help is an option of the program and of each command.
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

}  // namespace corozk::program
