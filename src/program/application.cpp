// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include <corozk/version.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace corozk::program {

namespace {

/// In the order of the help.
constexpr const command_entry* all_commands[] = {&lock_entry,
                                                 &elect_entry,
                                                 &semaphore_entry,
                                                 &barrier_entry,
                                                 &queue_entry,
                                                 &config_entry,
                                                 &discover_entry,
                                                 &contenders_entry,
                                                 &top_entry,
                                                 &break_entry,
                                                 &deadlocks_entry,
                                                 &tree_entry,
                                                 &get_entry,
                                                 &put_entry,
                                                 &rm_entry,
                                                 &wait_for_entry,
                                                 &watch_entry};

constexpr const char* about =
    "Locks, elections, queues and the other recipes of ZooKeeper, for people and scripts.";

constexpr const char* general =
    R"(See corozk COMMAND --help. The command after -- is run as is, without a shell. Durations
are written 250ms, 30s, 5m, 2h or 1.5h; without a unit they are in seconds; a hundred
years or more mean no limit. A deadline counts from the program's start, and includes
connecting; 0 means one attempt without waiting, as with --try: a server has ten seconds
to respond.

With --json results (on standard output) and events, errors and log lines (on standard
error) are JSON, one value per line. A string that is not UTF-8 is followed by a second
member, whose name ends in _base64, with all bytes.

Credentials: --auth-file FILE with lines such as digest:user:password, COROZK_AUTH_FILE,
or COROZK_AUTH with one of them. They are never shown or logged.

Exit codes
  that of the command that was run, or 128 and the number of the signal that ended it
  1    the answer is no: nothing there, not set, another version, a deadlock was found
  64   usage error
  69   no server, or the connection or session was lost
  70   another error
  74   standard output cannot be written
  75   --try, --deadline or queue peek: held by another client, or nothing available
  77   denied by an access control list, or authentication failed
  79   the lock, permit, leadership or claim was lost; the command was stopped
  126  the command cannot be executed
  127  there is no such command
  128+ the number of the signal that ended this program, as a shell shows it)";

/// CLI11 does not know what follows "--".
class with_usage : public CLI::Formatter {
public:
    explicit with_usage(std::string text) : text_(std::move(text)) {}
    std::string make_usage(const CLI::App*, std::string) const override { return text_; }

    /// Without what an option needs: its description begins with that.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text = Formatter::make_option_opts(option);
        auto needs = text.find(" Needs:");
        if (needs != std::string::npos)
            text.erase(needs, text.find(" Excludes:", needs) - needs);
        return text;
    }

private:
    std::string text_;
};

std::string no_command_in(const std::vector<std::string>& unknown) {
    std::string names;
    for (const command_entry* entry : all_commands)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", entry->name);
    std::string problem = "there is no command";
    if (!unknown.empty()) {
        const char* kind = unknown.front().starts_with('-') ? "option" : "command";
        problem = fmt::format("there is no {} '{}'", kind, unknown.front());
    }
    return fmt::format("{}; the commands are {}: see corozk --help", problem, names);
}

std::string usage_of(const command_entry& entry) {
    return fmt::format("corozk {} [OPTIONS] {}", entry.name, entry.arguments);
}

std::string unexpected(const std::string& word, const std::string& name, command_line takes) {
    if (!word.starts_with('-') && takes == command_line::required)
        return fmt::format("unexpected argument '{}'; a command follows --", word);
    if (!word.starts_with('-')) {
        auto named = [&name](const command_entry* entry) { return entry->name == name; };
        const auto* entry = std::find_if(std::begin(all_commands), std::end(all_commands), named);
        return fmt::format("unexpected argument '{}': usage: {}", word, usage_of(**entry));
    }
    return fmt::format(
        "there is no option '{}'; other words that begin with a dash follow --, or "
        "the '=' of their option",
        word);
}

/// CLI11's words are "--deadline: At Most 1 required but received 2".
usage_error wrong_count(const CLI::ArgumentMismatch& e) {
    std::string text = e.what();
    std::string name = text.substr(0, text.find(':'));
    if (text.find(": At Most ") != std::string::npos)
        return usage_error(fmt::format("{} is given more than once", name));
    if (text.ends_with(" missing"))
        return usage_error(fmt::format("{} needs a value", name));
    return usage_error(text);
}

/// "help get" is "get --help".
void accept_help(std::vector<std::string>& words) {
    if (words.empty() || words.front() != "help")
        return;
    words.erase(words.begin());
    words.emplace_back("--help");
}

usage_error no_value_for(const std::string& name) {
    return usage_error(fmt::format("{} has an empty value: omit it, or give a value", name));
}

/// CLI11 would take the next word for the value of "--name=".
void refuse_empty_after_equals(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            throw no_value_for(word.substr(0, word.size() - 1));
    }
}

/// An empty word is a variable of a script that is not set, and not the same as no option: "no TLS",
/// for instance. Only data may be empty. (CLI11 ignores variables of the environment that are.)
void refuse_empty_values(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        bool data = option->get_name() == "VALUE" || option->get_name() == "WORDS";
        const auto& given = option->results();
        if (!data && std::find(given.begin(), given.end(), "") != given.end())
            throw no_value_for(option->get_name());
    }
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
    for (const command_entry* entry : all_commands) {
        CLI::App* sub = app_.add_subcommand(entry->name, entry->summary);
        sub->fallthrough();
        sub->formatter(
            std::make_shared<with_usage>(fmt::format("\nUsage: {}\n", usage_of(*entry))));
        commands_.emplace(sub, entry->make(*sub));
    }
}

void application::add_settings() {
    const char* hosts =
        "the servers, such as a:2181,b:2181, optionally with a root, as in a:2181/app (default "
        "127.0.0.1:2181)";
    app_.add_option("--hosts", settings_.hosts, hosts)->envname("COROZK_HOSTS");
    app_.add_flag("--follow-reconfiguration",
                  settings_.follow_reconfiguration,
                  "use the servers in the ensemble's configuration, and follow its changes");
    const std::string auth = "credentials; better in a file or the environment";
    app_.add_option("--auth", auth)
        ->type_name("SCHEME:CREDENTIAL")
        ->take_all()
        ->each([this](const std::string& word) { settings_.auth.push_back(parse_auth(word)); });
    const std::string auth_file = "a file with credentials";
    app_.add_option("--auth-file", auth_file)
        ->type_name("FILE")
        ->each([this](const std::string& name) {
            auto found = parse_auth_file(name);
            settings_.auth.insert(settings_.auth.end(), found.begin(), found.end());
        });
    const std::string acl = "of new znodes: one of these, or SCHEME:ID:cdrwa";
    app_.add_option("--acl", acl)
        ->type_name("ACL:{open,creator,read-only}")
        ->each([this](const std::string& text) { settings_.acl = parse_acl(text); });
    add_duration(app_,
                 "--session-timeout",
                 settings_.session_timeout,
                 "requested from the servers; how long a dead holder blocks others (default 10s)");
    add_duration(app_,
                 "--connect-timeout",
                 settings_.connect_timeout,
                 "the time limit for connecting; 0: none (default 10s, or --deadline, which is "
                 "never exceeded)");
    static const std::map<std::string, server_dialect> dialects{
        {"automatic", server_dialect::automatic}, {"zookeeper-3.4", server_dialect::zookeeper_3_4}};
    auto choose = [this](const std::string& name) { settings_.dialect = dialects.at(name); };
    app_.add_option_function<std::string>(
            "--dialect",
            choose,
            "what the servers support; zookeeper-3.4 for ClickHouse Keeper, too")
        ->check(one_of(dialects))
        ->envname("COROZK_DIALECT");
    auto add_file = [this](const char* name, std::string& into, const char* help) {
        return app_.add_option(name, into, help)->type_name("FILE");
    };
    tls_options& tls = settings_.tls;
    add_file("--tls-ca", tls.ca_file, "TLS: the authorities that sign the servers' certificates")
        ->envname("COROZK_TLS_CA");
    app_.add_flag("--tls-system-ca", tls.system_authorities, "TLS: trust those of this machine");
    add_file("--tls-cert", tls.certificate_file, "TLS: the client's certificate")
        ->envname("COROZK_TLS_CERT");
    add_file("--tls-key", tls.key_file, "TLS: the key of the client's certificate")
        ->envname("COROZK_TLS_KEY");
    app_.add_option("--tls-key-password", tls.key_password, "TLS: the password of the key")
        ->type_name("PASSWORD")
        ->envname("COROZK_TLS_KEY_PASSWORD");
    const char* server_name = "TLS: the name in the servers' certificates, if not that in --hosts";
    app_.add_option("--tls-server-name", tls.server_name, server_name)
        ->type_name("NAME")
        ->envname("COROZK_TLS_SERVER_NAME");
    app_.add_option("--sasl-user", settings_.sasl.user, "authenticate by SASL as this user");
    add_file("--sasl-password-file", settings_.sasl.password_file, "the user's password");
    app_.add_flag("--json", settings_.json, "results and events as JSON, one value per line");
    app_.add_flag("-v,--verbose", settings_.verbose, "report events in detail");
}

void application::parse(std::vector<std::string> words) {
    auto dashes = std::find(words.begin(), words.end(), "--");
    bool has_command = dashes != words.end();
    if (has_command)
        settings_.command.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
    // Holds for usage errors, too.
    settings_.json = std::find(words.begin(), words.end(), "--json") != words.end();
    refuse_empty_after_equals(words);
    accept_help(words);
    std::reverse(words.begin(), words.end());  // as CLI11 expects them
    try {
        app_.parse(std::move(words));
    } catch (const CLI::RequiredError&) {
        if (app_.get_subcommands().empty())
            throw usage_error(no_command_in(app_.remaining()));
        throw;
    } catch (const CLI::ExtrasError&) {
        throw usage_error(unexpected(app_.remaining(true).front(),
                                     app_.get_subcommands().front()->get_name(),
                                     selected().takes_command()));
    } catch (const CLI::ArgumentMismatch& e) {
        throw wrong_count(e);
    }
    refuse_empty_values(app_);
    refuse_empty_values(*app_.get_subcommands().front());
    read_credentials();
    if (has_command && settings_.command.empty())
        throw usage_error("there is no command after --");
    // The servers have bounds of their own, minutes; the C client's arithmetic ends at twelve days.
    constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 10);
    settings_.session_timeout = std::min(settings_.session_timeout, longest);
    if (settings_.session_timeout < std::chrono::milliseconds(100))
        throw usage_error("--session-timeout must be at least 100ms");
    check_tls();
    if (settings_.sasl.user.empty() != settings_.sasl.password_file.empty())
        throw usage_error("--sasl-user and --sasl-password-file must be given together");
    check_command_line();
    selected().check(settings_);
}

void application::parse_for_completion(std::vector<std::string> words) {
    refuse_empty_after_equals(words);
    std::reverse(words.begin(), words.end());
    try {
        app_.parse(std::move(words));
    } catch (const CLI::Error&) {
        // Something may still be missing.
    }
    refuse_empty_values(app_);
    read_credentials();
}

void application::read_credentials() {
    if (!settings_.auth.empty())
        return;
    if (const char* name = std::getenv("COROZK_AUTH_FILE"); name && *name)
        settings_.auth = parse_auth_file(name);
    if (const char* auth = std::getenv("COROZK_AUTH"); auth && *auth)
        settings_.auth.push_back(parse_auth(auth));
}

void application::check_tls() const {
    const tls_options& tls = settings_.tls;
    if (tls.certificate_file.empty() != tls.key_file.empty())
        throw usage_error("--tls-cert and --tls-key must be given together");
    const bool trusts = tls.system_authorities || !tls.ca_file.empty();
    if (asks_for_tls(tls) && !trusts)
        throw usage_error("TLS needs --tls-ca or --tls-system-ca: otherwise no server is trusted");
}

void application::check_command_line() const {
    command_line takes = selected().takes_command();
    if (takes == command_line::required && settings_.command.empty())
        throw usage_error("there is no command; it follows --, as in corozk lock /a -- date");
    if (takes == command_line::none && !settings_.command.empty())
        throw usage_error("no command is run here: remove -- and what follows it");
}

void hide_credentials(int argc, char** argv) {
    constexpr std::string_view secrets[] = {"--auth", "--tls-key-password"};
    for (int i = 1; i < argc; ++i) {
        std::string_view word(argv[i]);
        if (word == "--")
            return;
        for (std::string_view name : secrets) {
            char* secret = nullptr;
            if (word == name && i + 1 < argc)
                secret = argv[++i];
            else if (word.starts_with(name) && word.substr(name.size()).starts_with("="))
                secret = argv[i] + name.size() + 1;
            if (secret)
                std::memset(secret, '*', std::strlen(secret));
        }
    }
}

}  // namespace corozk::program
