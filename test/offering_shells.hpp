// SPDX-License-Identifier: Apache-2.0
// What shells offer to complete a command line, by the scripts in src/program/completion.
#pragma once

#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

inline std::set<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::set<std::string> result;
    for (std::string word; in >> word;)
        result.insert(word);
    return result;
}

class offering_shells {
public:
    /// The program's folder is in the path.
    offering_shells(const std::filesystem::path& program,
                    std::map<std::string, std::string> environment = {})
        : folder_(program.parent_path()), environment_(std::move(environment)) {}

    /// What is offered for the last of these words, of which the first is the program.
    /// @param replaced what Readline would replace; without it, the last word
    std::set<std::string> bash(const std::string& words, const std::string& replaced = {}) const {
        return offered({"bash",
                        "--norc",
                        "-c",
                        "source '" COROZK_COMPLETION_DIR "/corozk.bash'; COMP_LINE=$1; "
                        "COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE); "
                        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                        "complete -p \"${COMP_WORDS[0]}\" | grep -q ' _corozk ' && "
                        "_corozk \"${COMP_WORDS[0]}\" \"${2:-${COMP_WORDS[-1]}}\"; "
                        "printf '%s\\n' \"${COMPREPLY[@]}\"",
                        "bash",
                        words,
                        replaced});
    }

    /// Types the words and a tab into a shell of its own, and shows what stands there then.
    std::set<std::string> zsh(const std::string& words) const {
        return offered({"zsh",
                        "-f",
                        "-c",
                        R"(
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=''; fpath=()" COROZK_COMPLETION_DIR
                        R"( \$fpath); autoload -U compinit; compinit -u -D; bindkey -e"
zpty -w shell "echo re''ady"
zpty -r shell text '*ready*'
zpty -w -n shell ')" + words +
                            R"('$'\t'
zpty -w -n shell $'\x01echo \'BEGIN \x05 END\'\n'
zpty -r shell text $'*BEGIN*END*\n*BEGIN*END*'
print -r -- "$text"
zpty -d shell
)"});
    }

    std::set<std::string> fish(const std::string& words) const {
        return offered(
            {"fish",
             "--no-config",
             "-c",
             "source " COROZK_COMPLETION_DIR "/corozk.fish; complete -C '" + words + "'"});
    }

private:
    std::set<std::string> offered(const std::vector<std::string>& shell) const {
        temporary_directory folder;
        process_options what;
        what.command = shell;
        what.output = folder.path() / "out";
        what.environment = environment_;
        what.environment["PATH"] = folder_.string() + ":" + std::getenv("PATH");
        what.environment["HOME"] = folder.path();
        what.environment["TERM"] = "dumb";
        process_guard process(what);
        REQUIRE(process.wait(std::chrono::minutes(1)));
        std::ifstream in(what.output);
        std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        INFO(text);
        CHECK(process.exit_status() == 0);
        return words_of(text);
    }

    std::filesystem::path folder_;
    std::map<std::string, std::string> environment_;
};

}  // namespace corozk::testing
