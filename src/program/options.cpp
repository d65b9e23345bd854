// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace corozk::program {

bool asks_for_tls(const tls_options& tls) {
    return tls.system_authorities || !tls.ca_file.empty() || !tls.certificate_file.empty() ||
           !tls.key_file.empty() || !tls.key_password.empty() || !tls.server_name.empty();
}

client_options to_client_options(const settings& s) {
    client_options options(s.hosts);
    options.session_timeout = s.session_timeout;
    options.connect_timeout = s.connect_timeout.value_or(options.connect_timeout);
    options.follow_reconfiguration = s.follow_reconfiguration;
    options.auth = s.auth;
    options.dialect = s.dialect;
    if (asks_for_tls(s.tls))
        options.tls = s.tls;
    if (!s.sasl.user.empty() || !s.sasl.password_file.empty())
        options.sasl = s.sasl;
    auto write = [out = output(s.json), verbose = s.verbose](log_level level,
                                                             std::string_view text) {
        const std::string line = in_options(text);
        const bool shown = level == log_level::error ? !explains_end(line) : tells_of_servers(line);
        if (!verbose && !shown)
            return keep_warning(line);
        keep_warning("");
        std::string_view name = to_string(level);
        out.event("log",
                  std::string(name).append(": ").append(line),
                  {{"level", name}, {"message", line}});
    };
    options.logger = logger(s.verbose ? log_level::info : log_level::warning, write);
    return options;
}

void wait_options::describe_deadline(CLI::App& app) {
    add_duration(
        app, "-w,--deadline", deadline, "wait at most this long, then end with 75; 0: do not wait");
}

void wait_options::describe(CLI::App& app, const std::string& in_vain) {
    describe_deadline(app);
    app.add_flag("-n,--try",
                 try_only,
                 "do not wait: end with 75 if " + in_vain +
                     ", with 69 if no server answers within ten seconds")
        ->excludes("--deadline");
}

std::chrono::steady_clock::time_point wait_options::until() const {
    if (at_once())
        return begin;
    return deadline ? begin + *deadline : std::chrono::steady_clock::time_point::max();
}

std::optional<std::chrono::milliseconds> wait_options::patience() const {
    constexpr std::chrono::milliseconds to_answer_a_try{10'000};
    if (at_once())
        return to_answer_a_try;
    if (!deadline)
        return std::nullopt;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until() - std::chrono::steady_clock::now());
    return std::max(left, std::chrono::milliseconds(1));
}

std::chrono::steady_clock::time_point wait_options::response_due() const {
    auto left = patience();
    return left ? std::chrono::steady_clock::now() + *left
                : std::chrono::steady_clock::time_point::max();
}

path_and_action::path_and_action(CLI::App& app,
                                 std::vector<std::string> actions,
                                 std::string taking_words)
    : actions_(std::move(actions)), taking_words_(std::move(taking_words)) {
    app.add_option("ACTION", action_, fmt::format("{}", fmt::join(actions_, ", ")))->required();
    app.add_option("PATH", path_, "the recipe's znode")->required();
    // As they are: CLI11 takes a list's empty word for none, and "[1,2]" for two. No least number is
    // ever reached, so words that are the name of a command are words, too.
    constexpr int most = CLI::detail::expected_max_vector_size;
    const std::string words = "what the action needs; see below";
    app.add_option("WORDS", words)
        ->expected(most, most)
        ->take_all()
        ->each([this](const std::string& word) { words_.push_back(word); });
    app.final_callback([this] { check(); });
}

void path_and_action::check() {
    if (action_.starts_with('/'))
        std::swap(action_, path_);
    if (std::find(actions_.begin(), actions_.end(), action_) == actions_.end())
        throw usage_error(fmt::format(
            "there is no action '{}'; the actions are {}", action_, fmt::join(actions_, ", ")));
    check_recipe_path(path_);
    if (!words_.empty() && action_ != taking_words_)
        throw usage_error(fmt::format("unexpected argument '{}'", words_.front()));
}

std::vector<std::string> path_and_action::words(const settings& s) const {
    std::vector<std::string> result = words_;
    result.insert(result.end(), s.command.begin(), s.command.end());
    return result;
}

}  // namespace corozk::program
