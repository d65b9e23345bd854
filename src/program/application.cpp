// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include <corozk/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace corozk::program {

namespace {

constexpr const char* about =
    "Locks, elections, queues and the other recipes of ZooKeeper, for people and scripts.";

constexpr const char* general =
    "Each command explains itself: corozk COMMAND --help. What stands behind -- is run as it is,\n"
    "without a shell. Durations are written 250ms, 30s, 5m or 2h; a hundred years and more mean "
    "for\n"
    "ever. A deadline counts from the program's start: connecting is part of it.\n"
    "\n"
    "With --json standard output has results, and standard error events, errors and log lines; "
    "each\n"
    "is one value in a line. Where a string is not UTF-8 there is a second member with _base64 "
    "behind\n"
    "its name, which has all the bytes.\n"
    "\n"
    "Credentials: --auth-file FILE with a line SCHEME:CREDENTIAL for each, such as\n"
    "digest:user:password, or COROZK_AUTH_FILE, or COROZK_AUTH with one of them. They are never\n"
    "shown or logged.\n"
    "\n"
    "Exit codes\n"
    "  that of the command which was run, or 128 and the number of the signal that ended it\n"
    "  1    the answer is no: nothing there, not set, a deadlock was found\n"
    "  64   the command line makes no sense\n"
    "  69   no server, or the connection or the session was lost\n"
    "  70   another error\n"
    "  74   standard output cannot be written\n"
    "  75   --try or --deadline: somebody else has it, or there is nothing\n"
    "  77   the access control list says no, or authentication failed\n"
    "  79   what the command ran under was lost; the command was stopped\n"
    "  126  the command cannot be run\n"
    "  127  there is no such command\n"
    "  128+ ended by that signal, if a shell is asked: the program itself ends by the signal it "
    "got";

/// CLI11 does not know what stands behind "--".
class with_synopsis : public CLI::Formatter {
public:
    explicit with_synopsis(std::string text) : text_(std::move(text)) {}
    std::string make_usage(const CLI::App*, std::string) const override { return text_; }

private:
    std::string text_;
};

/// What is said when none of the words is a command's name.
std::string no_command_in(const std::vector<std::string>& unknown) {
    std::string names;
    for (const command_entry& entry : all_commands())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
    std::string problem = "what to do is missing";
    if (!unknown.empty()) {
        bool option = unknown.front().starts_with('-');
        problem =
            fmt::format("there is no {} '{}'", option ? "option" : "command", unknown.front());
    }
    return fmt::format("{}; the commands are {}: see corozk --help", problem, names);
}

std::string one_too_many(const std::string& word) {
    if (!word.starts_with('-'))
        return fmt::format("'{}' is one word too many; a command stands behind --", word);
    return fmt::format(
        "there is no option '{}'; another word that begins with a dash stands "
        "behind --, or behind the '=' of its option",
        word);
}

}  // namespace

application::application() : app_(about, "corozk") {
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.footer(general);
    app_.set_version_flag(
        "--version",
        fmt::format("corozk {}, ZooKeeper C client {}", version(), c_client_version()));
    add_settings();
    for (const command_entry& entry : all_commands()) {
        CLI::App* sub = app_.add_subcommand(entry.name, entry.summary);
        sub->fallthrough();
        commands_.emplace_back(sub, entry.make());
        commands_.back().second->describe(*sub);
        auto usage = fmt::format(
            "\nUsage: corozk {} [OPTIONS] {}\n", entry.name, commands_.back().second->synopsis());
        sub->formatter(std::make_shared<with_synopsis>(usage));
    }
}

void application::add_settings() {
    app_.add_option(
        "--hosts",
        settings_.hosts,
        "the servers, such as a:2181,b:2181, and maybe a folder that is the root, as in "
        "a:2181/app (default: COROZK_HOSTS, or 127.0.0.1:2181)");
    auto auth = [this](const std::vector<std::string>& words) {
        parse_word("--auth", [&] {
            for (const std::string& word : words)
                settings_.auth.push_back(parse_auth(word));
        });
    };
    app_.add_option_function<std::vector<std::string>>(
            "--auth", auth, "credentials; better in a file or the environment")
        ->type_name("SCHEME:CREDENTIAL")
        ->allow_extra_args(false);
    auto auth_file = [this](const std::string& name) {
        parse_word("--auth-file", [&] {
            auto found = parse_auth_file(name);
            settings_.auth.insert(settings_.auth.end(), found.begin(), found.end());
        });
    };
    app_.add_option_function<std::string>("--auth-file", auth_file, "a file with credentials")
        ->type_name("FILE");
    auto acl = [this](const std::string& text) {
        parse_word("--acl", [&] { settings_.acl = parse_acl(text); });
    };
    app_.add_option_function<std::string>(
            "--acl", acl, "of new nodes: open, creator, read-only, or SCHEME:ID:cdrwa")
        ->type_name("ACL");
    add_duration(app_,
                 "--session-timeout",
                 settings_.session_timeout,
                 "asked of the servers; how long a dead holder blocks the others (default 10s)");
    add_duration(app_,
                 "--connect-timeout",
                 settings_.connect_timeout,
                 "how long to try to connect; 0 for ever (default 10s, or --deadline; never longer "
                 "than that)");
    app_.add_option("--tls-ca", settings_.tls.ca_file, "certificates that servers are checked with")
        ->type_name("FILE");
    app_.add_option("--tls-certificate", settings_.tls.certificate_file, "our own certificate")
        ->type_name("FILE");
    app_.add_option("--tls-key", settings_.tls.key_file, "its key")->type_name("FILE");
    app_.add_option("--sasl-user", settings_.sasl.user, "authenticate by SASL as this user")
        ->type_name("USER");
    app_.add_option("--sasl-password-file", settings_.sasl.password_file, "the user's password")
        ->type_name("FILE");
    app_.add_flag("--json", settings_.json, "results and events as JSON, one value a line");
    app_.add_flag("-v,--verbose", settings_.verbose, "say what happens");
}

void application::parse(std::vector<std::string> words) {
    // Also of what is wrong with the words.
    settings_.json =
        std::find(words.begin(), std::find(words.begin(), words.end(), "--"), "--json") !=
        std::find(words.begin(), words.end(), "--");
    // The command's words are not ours to read.
    auto dashes = std::find(words.begin(), words.end(), "--");
    bool has_command = dashes != words.end();
    if (has_command) {
        settings_.command.assign(dashes + 1, words.end());
        words.erase(dashes, words.end());
    }
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app_.parse(std::move(words));
    } catch (const CLI::RequiredError&) {
        if (app_.get_subcommands().empty())
            throw bad_word(no_command_in(app_.remaining()));
        throw;
    } catch (const CLI::ExtrasError&) {
        throw bad_word(one_too_many(app_.remaining(true).front()));
    }
    read_environment();
    if (has_command && settings_.command.empty())
        throw bad_word("there is no command behind --");
    // The server decides between bounds of its own, which are minutes; the C client's arithmetic
    // ends at twelve days.
    constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 10);
    settings_.session_timeout = std::min(settings_.session_timeout, longest);
    if (settings_.session_timeout < std::chrono::milliseconds(100))
        throw bad_word("--session-timeout must be at least 100ms");
    selected().check(settings_);
    check_command_line();
}

void application::read_environment() {
    const char* hosts = std::getenv("COROZK_HOSTS");
    if (hosts && *hosts && app_.get_option("--hosts")->empty())
        settings_.hosts = hosts;
    if (!settings_.auth.empty())
        return;
    if (const char* name = std::getenv("COROZK_AUTH_FILE"); name && *name)
        settings_.auth = parse_auth_file(name);
    if (const char* auth = std::getenv("COROZK_AUTH"); auth && *auth)
        settings_.auth.push_back(parse_auth(auth));
}

void application::check_command_line() const {
    command_line takes = selected().takes_command();
    if (takes == command_line::required && settings_.command.empty())
        throw bad_word("there is no command: write it behind --, as in corozk lock /a -- date");
    if (takes == command_line::none && !settings_.command.empty())
        throw bad_word("nothing is run here: what stands behind -- has no meaning");
}

command& application::selected() const {
    auto found = std::find_if(commands_.begin(), commands_.end(), [](const auto& entry) {
        return entry.first->parsed();
    });
    return *found->second;
}

void hide_credentials(int argc, char** argv) {
    constexpr std::string_view name = "--auth";
    for (int i = 1; i < argc; ++i) {
        std::string_view word(argv[i]);
        if (word == "--")
            return;
        char* secret = nullptr;
        if (word == name && i + 1 < argc)
            secret = argv[++i];
        else if (word.starts_with("--auth="))
            secret = argv[i] + name.size() + 1;
        if (secret)
            std::memset(secret, '*', std::strlen(secret));
    }
}

}  // namespace corozk::program
