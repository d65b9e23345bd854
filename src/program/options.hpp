// SPDX-License-Identifier: Apache-2.0
// The options that all or several commands have, and options whose values are more than text.
#pragma once

#include "words.hpp"
#include <corozk/compatibility.hpp>
#include <corozk/options.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corozk::program {

/// The values of the options that all commands have.
struct settings {
    std::string hosts = "127.0.0.1:2181";
    bool follow_reconfiguration = false;
    std::vector<auth_info> auth;
    corozk::acl acl;  ///< of new znodes; empty: open
    std::chrono::milliseconds session_timeout{10'000};
    std::optional<std::chrono::milliseconds> connect_timeout;
    server_dialect dialect = server_dialect::automatic;
    tls_options tls;
    sasl_options sasl;
    bool json = false;
    bool verbose = false;

    /// The words after "--".
    std::vector<std::string> command;
};

/// Whether any option of TLS is set: nothing is sent in clear text where TLS was meant.
bool asks_for_tls(const tls_options& tls);

client_options to_client_options(const settings& s);

template <class Duration>
CLI::Option* add_duration(CLI::App& app,
                          const std::string& name,
                          Duration& into,
                          const std::string& help) {
    auto set = [&into](const std::string& text) { into = parse_duration(text); };
    return app.add_option(name, help)->type_name("DURATION")->each(set);
}

/// A whole number; `into` may be an optional one.
template <class Number, class Into>
CLI::Option* add_number(CLI::App& app,
                        const std::string& name,
                        Into& into,
                        const std::string& help,
                        Number least = std::numeric_limits<Number>::lowest(),
                        Number most = std::numeric_limits<Number>::max()) {
    // CLI11 itself would take "010" for eight.
    auto set = [&into, least, most](const std::string& text) {
        into = parse_number<Number>(text, least, most);
    };
    return app.add_option(name, help)->type_name("NUMBER")->each(set);
}

/// --compatibility: whose format the command's recipe uses.
inline CLI::Option* add_compatibility(CLI::App& app, compatibility& into, const std::string& help) {
    static const std::map<std::string, compatibility> formats{{"native", compatibility::native},
                                                              {"curator", compatibility::curator},
                                                              {"kazoo", compatibility::kazoo}};
    auto set = [&into](const std::string& name) { into = formats.at(name); };
    return app.add_option_function<std::string>("--compatibility", set, help)
        ->check(one_of(formats));
}

/// How long to wait. One budget, from the program's start on, which includes connecting.
struct wait_options {
    bool try_only = false;
    std::optional<std::chrono::milliseconds> deadline;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

    /// Adds -w.
    void describe_deadline(CLI::App& app);

    /// Adds -n and -w. @param in_vain when -n ends with 75
    void describe(CLI::App& app, const std::string& in_vain);

    std::chrono::steady_clock::time_point until() const;

    /// Whether there is one attempt, without waiting: --try, and a deadline of 0.
    bool at_once() const { return try_only || (deadline && deadline->count() == 0); }

    /// How long connecting may take; nothing where --connect-timeout alone decides.
    std::optional<std::chrono::milliseconds> patience() const;

    /// When a server must have responded to what waits for no other client.
    std::chrono::steady_clock::time_point response_due() const;

    /// Starts another round, with a budget of its own.
    void restart() { begin = std::chrono::steady_clock::now(); }
};

/// The arguments of commands like `queue put PATH ITEM...`. Action and path may change places: a
/// path begins with a slash.
class path_and_action {
public:
    /// @param taking_words the action that takes more words
    path_and_action(CLI::App& app,
                    std::vector<std::string> actions,
                    std::string taking_words = std::string());

    const std::string& path() const noexcept { return path_; }
    bool is(std::string_view action) const noexcept { return action_ == action; }

    /// The words behind these two, before and after "--".
    std::vector<std::string> words(const settings& s) const;

private:
    void check();

    std::vector<std::string> actions_;
    std::string taking_words_;
    std::string action_;
    std::string path_;
    std::vector<std::string> words_;
};

}  // namespace corozk::program
