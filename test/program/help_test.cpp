// SPDX-License-Identifier: Apache-2.0
#include "offering_shells.hpp"
#include "program_run.hpp"
#include <corozk/version.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace corozk::testing::help_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

const std::vector<std::string> commands{"lock",
                                        "elect",
                                        "semaphore",
                                        "barrier",
                                        "queue",
                                        "config",
                                        "discover",
                                        "contenders",
                                        "top",
                                        "break",
                                        "deadlocks",
                                        "tree",
                                        "get",
                                        "put",
                                        "rm",
                                        "wait-for",
                                        "watch"};

/// A busy machine may need longer than a person would wait.
std::set<std::string> completed(std::vector<std::string> words, const char* patience = "30s") {
    words.insert(words.begin(), {"--complete", "--connect-timeout", patience});
    auto run = run_program(words);
    CHECK(run.code == 0);
    return words_of(run.out);
}

const std::string patient = "--connect-timeout 30s ";

offering_shells shells() {
    return {COROZK_PROGRAM, {{"COROZK_HOSTS", the_server().hosts()}}};
}

std::set<std::string> bash_offers(const std::string& words, const std::string& replaced = {}) {
    return shells().bash("corozk " + words, replaced);
}

std::set<std::string> zsh_offers(const std::string& words) {
    return shells().zsh(words);
}

std::set<std::string> fish_offers(const std::string& words) {
    return shells().fish(words);
}

}  // namespace

TEST_CASE("corozk --help: every command explains itself, with examples") {
    auto all = run_program({"--help"});
    CHECK(all.code == 0);
    CHECK(all.out.find("Exit codes") != std::string::npos);
    for (const std::string& command : commands) {
        INFO(command);
        CHECK(all.out.find("\n  " + command + " ") != std::string::npos);
        auto help = run_program({command, "--help"});
        CHECK(help.code == 0);
        CHECK(help.out.find("Usage: corozk " + command) != std::string::npos);
        CHECK(help.out.find("Examples\n  corozk " + command) != std::string::npos);
    }
    CHECK(run_program({"--version"}).out.starts_with("corozk "));
}

TEST_CASE("corozk: an unknown command is named, and the commands are listed") {
    auto refused = [](std::vector<std::string> words, const std::string& problem) {
        auto run = run_program(words);
        CHECK(run.code == 64);
        CHECK(run.out.empty());
        CHECK(run.err.find(problem) != std::string::npos);
        CHECK(run.err.find("corozk --help") != std::string::npos);
        for (const std::string& command : commands)
            CHECK(run.err.find(command) != std::string::npos);
    };
    refused({"frobnicate"}, "there is no command 'frobnicate'");
    refused({"--hosts", "a:1", "Lock", "/a", "--", "true"}, "there is no command 'Lock'");
    refused({"--json", "frobnicate"}, R"("message":"there is no command 'frobnicate')");
    refused({"--frob"}, "there is no option '--frob'");
    refused({}, "there is no command; the commands are");
}

TEST_CASE("corozk help COMMAND: as COMMAND --help") {
    CHECK(run_program({"help"}).out == run_program({"--help"}).out);
    for (const std::string& command : commands) {
        auto help = run_program({"help", command});
        CHECK(help.code == 0);
        CHECK(help.out == run_program({command, "--help"}).out);
    }
}

TEST_CASE("corozk --help: no long lines, and nothing twice") {
    for (const std::string& command : commands) {
        std::istringstream lines(run_program({command, "--help"}).out);
        for (std::string line; std::getline(lines, line);) {
            INFO(command << ": " << line);
            // Those of options are CLI11's.
            CHECK((line.size() <= 100 || line.starts_with("  ")));
            CHECK(line.find("Needs:") == std::string::npos);
        }
    }
}

TEST_CASE("corozk: options twice, without a value, or with an unknown one") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
        {{"lock", "/a", "-w", "1", "-w", "2", "--", "true"}, "--deadline is given more than once"},
        {{"get", "/a", "--dialect"}, "--dialect needs a value"},
        {{"get", "/a", "--dialect", "foo"}, "--dialect: 'foo' is none of automatic,zookeeper-3.4"},
        {{"config", "get", "/a", "--layout", "foo"},
         "--layout: 'foo' is none of single,ready,versioned"}};
    for (const auto& [words, problem] : wrong) {
        auto run = run_program(words);
        CHECK(run.code == 64);
        CHECK(run.err == "corozk: " + problem + "\n");
    }
}

TEST_CASE("corozk --hosts: what is wrong is said once") {
    const std::string server = the_server().hosts();
    auto missing = run_program({"get", "/a", "--hosts", server + "/none/such"});
    CHECK(missing.code == 70);
    CHECK(missing.err ==
          "corozk: the parent znode \"/none/such\" of the host list does not exist: create it "
          "first\n");
    auto malformed = run_program({"get", "/a", "--hosts", "a:b:c"});
    CHECK(malformed.code == 64);
    CHECK(malformed.err.starts_with("corozk: host list \"a:b:c\" "));
    CHECK(std::count(malformed.err.begin(), malformed.err.end(), '\n') == 1);
}

TEST_CASE("corozk: SASL is asked for, or refused where the library has none") {
    auto run =
        run_program({"tree", "/", "--sasl-user", "ann", "--sasl-password-file", "/password_file"});
    CHECK(run.code == (has_sasl() ? 64 : 70));
    CHECK(run.err.find(has_sasl() ? "--sasl-password-file \"/password_file\""
                                  : "built without it") != std::string::npos);
}

TEST_CASE("corozk --manual: names every command and every option") {
    std::string manual = run_program({"--manual"}).out;
    CHECK(manual.starts_with(".TH COROZK 1"));
    for (const std::string& command : commands) {
        CHECK(manual.find(".SS corozk " + command) != std::string::npos);
        for (std::string option : completed({command, "--"})) {
            INFO(option);
            std::string escaped;
            for (char c : option)
                escaped += c == '-' ? std::string("\\-") : std::string(1, c);
            CHECK(manual.find(escaped) != std::string::npos);
        }
    }
}

TEST_CASE("corozk --complete: commands, options, values, actions, paths") {
    CHECK(completed({""}) == std::set<std::string>(commands.begin(), commands.end()));
    CHECK(completed({"co"}) == std::set<std::string>{"config", "contenders"});
    CHECK(completed({"lock", "--pri"}) == std::set<std::string>{"--priority"});
    CHECK(completed({"lock", "--compatibility", ""}) ==
          std::set<std::string>{"native", "curator", "kazoo"});
    CHECK(completed({"queue", "p"}) == std::set<std::string>{"put", "peek"});
    CHECK(completed({"queue", "put", ""}).count("/zookeeper") == 1);
    CHECK(completed({"queue", "put", "/q", ""}).empty());
    CHECK(completed({"queue", ""}).count("put") == 1);
    CHECK(completed({"put", "--acl", ""}) == std::set<std::string>{"open", "creator", "read-only"});
    CHECK(completed({"discover", "--format=s"}) == std::set<std::string>{"--format=server-set"});
    CHECK(completed({"put", "--acl=c"}) == std::set<std::string>{"--acl=creator"});
    for (std::string word : {"--hosts=", "--watch=", "--none="})
        CHECK(completed({"discover", word}).empty());
    CHECK(completed({"put", "--ver"}) == std::set<std::string>{"--verbose", "--version"});
    CHECK(completed({"put", "/a", "queue", "--cre"}) == std::set<std::string>{"--create-only"});
    CHECK(completed({"wa"}) == std::set<std::string>{"wait-for", "watch"});
    CHECK(completed({"wait-for", "--go"}) == std::set<std::string>{"--gone"});
    CHECK(completed({"watch", "--ex"}) == std::set<std::string>{"--exit-on-error"});
    CHECK(completed({"discover", "--reg"}) == std::set<std::string>{"--register"});
    CHECK(completed({"t"}) == std::set<std::string>{"top", "tree"});
    CHECK(completed({"top", "--in"}) == std::set<std::string>{"--interval"});
    CHECK(completed({"rm", "--rec"}) == std::set<std::string>{"--recursive"});
    std::string path = fresh_path();
    observer().plant(path + "/deep/node");
    CHECK(completed({"discover", path + "/deep", ""}) == std::set<std::string>{"node"});
    CHECK(completed({"discover", "--one", path, "d"}) == std::set<std::string>{"deep"});
    for (const char* command : {"tree", "get", "put", "rm", "wait-for", "watch", "discover", "top"})
        CHECK(completed({command, path + "/d"}) == std::set<std::string>{path + "/deep"});
    for (const char* command : {"get", "put", "lock", "elect", "watch", "discover", "top"})
        CHECK(completed({command, ""}).count("/zookeeper") == 1);
    CHECK(completed({"top", "--interval", "5s", "/a", ""}).count("/zookeeper") == 1);
    CHECK(completed({"put", "--auth-file", "/dev/null", ""}).count("/zookeeper") == 1);
    CHECK(completed({"get", "/a", ""}).empty());
    CHECK(completed({"get", "a"}).empty());
    CHECK(completed({"lock", "--hosts", "127.0.0.1:1", path}, "200ms").empty());
    CHECK(completed({"lock", "--hosts=127.0.0.1:1", path}, "200ms").empty());
    CHECK(completed({"queue", "put", "--hosts", the_server().hosts(), path + "/d"}) ==
          std::set<std::string>{path + "/deep"});
    // Nothing that would be refused, and nothing twice.
    CHECK(completed({"get", "/"}).count("/zookeeper") == 1);
    for (std::string word : {std::string("//"), "/" + path + "/", path + "//"})
        CHECK(completed({"get", word}).empty());
    CHECK(run_program({"--complete", "lock", "--he"}).out == "--help\n");
}

TEST_CASE("corozk: completion in bash") {
    CHECK(bash_offers("con") == std::set<std::string>{"config", "contenders"});
    CHECK(bash_offers("lock --dead") == std::set<std::string>{"--deadline"});
    CHECK(bash_offers("wait-for --g") == std::set<std::string>{"--gone"});
    std::string path = fresh_path();
    observer().plant(path + "/deep/node");
    CHECK(bash_offers(patient + "tree ''").count("/zookeeper") == 1);
    CHECK(bash_offers("discover --format=s", "s") == std::set<std::string>{"server-set"});
    CHECK(bash_offers(patient + "tree " + path + "/") == std::set<std::string>{path + "/deep"});
    CHECK(bash_offers(patient + "discover --one " + path + "/deep n") ==
          std::set<std::string>{"node"});
    // A name means nothing to the shell, without quotes and within them.
    std::string foreign = path + "/x/$(echo)'\";";
    observer().plant(foreign);
    std::string start = path + "/x/";
    CHECK(bash_offers(patient + "get " + start) ==
          std::set<std::string>{start + "\\$\\(echo\\)\\'\\\"\\;"});
    CHECK(bash_offers(patient + "get '" + start, start) ==
          std::set<std::string>{start + "$(echo)'\\''\";"});
    CHECK(bash_offers(patient + "get \"" + start, start) ==
          std::set<std::string>{start + "\\$(echo)'\\\";"});
    // What is before the replaced part stays.
    CHECK(bash_offers(patient + "get '" + path + "/x'/\\$", "/\\$") ==
          std::set<std::string>{"/\\$\\(echo\\)\\'\\\"\\;"});
}

TEST_CASE("corozk: completion of a program that is written with a tilde") {
    temporary_directory folder;
    const std::string home = folder.path();
    std::filesystem::create_symlink(COROZK_PROGRAM, folder.path() / "corozk");
    const std::string scripts = COROZK_COMPLETION_DIR;
    const std::vector<std::vector<std::string>> shells{
        {"bash",
         "--norc",
         "-c",
         "source '" + scripts +
             "/corozk.bash'; COMP_LINE='~/corozk con'; COMP_POINT=${#COMP_LINE}; "
             "COMP_WORDS=('~/corozk' con); COMP_CWORD=1; _corozk '~/corozk' con; "
             "printf '%s\\n' \"${COMPREPLY[@]}\""},
        {"fish",
         "--no-config",
         "-c",
         "source '" + scripts + "/corozk.fish'; complete -C '~/corozk con'"}};
    for (const std::vector<std::string>& shell : shells) {
        INFO(shell.front());
        process_options what;
        what.command = shell;
        what.output = folder.path() / ("out-" + shell.front());
        what.environment = {{"HOME", home}, {"TERM", "dumb"}};
        process_guard process(what);
        REQUIRE(process.wait(program_limit));
        std::ifstream in(what.output);
        std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        CHECK(words_of(text) == std::set<std::string>{"config", "contenders"});
    }
}

TEST_CASE("corozk: completion in zsh") {
    CHECK(zsh_offers("corozk contend").count("contenders") == 1);
    CHECK(zsh_offers("corozk lock --dead").count("--deadline") == 1);
    CHECK(zsh_offers("corozk wait-for --g").count("--gone") == 1);
    std::string path = fresh_path();
    observer().plant(path + "/deep/node");
    CHECK(zsh_offers("corozk discover --format=s").count("--format=server-set") == 1);
    CHECK(zsh_offers("corozk " + patient + "tree " + path + "/d").count(path + "/deep") == 1);
    CHECK(zsh_offers("corozk " + patient + "discover " + path + "/deep n").count("node") == 1);
}

TEST_CASE("corozk: completion in fish") {
    CHECK(fish_offers("corozk con") == std::set<std::string>{"config", "contenders"});
    CHECK(fish_offers("corozk ") == std::set<std::string>(commands.begin(), commands.end()));
    CHECK(fish_offers("corozk lock --dead") == std::set<std::string>{"--deadline"});
    CHECK(fish_offers("corozk queue p") == std::set<std::string>{"put", "peek"});
    CHECK(fish_offers("corozk wait-for --g") == std::set<std::string>{"--gone"});
    std::string path = fresh_path();
    observer().plant(path + "/deep/node");
    CHECK(fish_offers("corozk " + patient + "tree ").count("/zookeeper") == 1);
    CHECK(fish_offers("corozk discover --format=s") ==
          std::set<std::string>{"--format=server-set"});
    CHECK(fish_offers("corozk " + patient + "tree " + path + "/d") ==
          std::set<std::string>{path + "/deep", path + "/deep/"});
    CHECK(fish_offers("corozk " + patient + "discover --one " + path + "/deep n") ==
          std::set<std::string>{"node"});
    for (const char* quote : {"\\'", "\""})
        CHECK(fish_offers("corozk " + patient + "tree " + std::string(quote) + path + "/d") ==
              std::set<std::string>{path + "/deep", path + "/deep/"});
    // Another command, and a file.
    CHECK(fish_offers("corozk lock /a -- corozk conten") == std::set<std::string>{"contenders"});
    CHECK(fish_offers("corozk config put /a " COROZK_COMPLETION_DIR "/corozk.f") ==
          std::set<std::string>{COROZK_COMPLETION_DIR "/corozk.fish"});
}

}  // namespace corozk::testing::help_test
