// SPDX-License-Identifier: Apache-2.0
// The scripts around the program: help is only shown; what they ask for, and where they write.
#include "bench_run.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::tools_test {

using namespace corozk::testing;

namespace {

void make_program(const std::filesystem::path& file, const std::string& script) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

/// A checkout that has just been made; what its tools would install, and give the program, is said.
class fresh_checkout {
public:
    fresh_checkout() {
        std::filesystem::create_directories(root());
        std::filesystem::copy(
            COROZK_TOOLS_DIR, root() / "tools", std::filesystem::copy_options::recursive);
        make_program(root() / "tools" / "setup", "echo \"set: $2\"");
        for (const char* program : {"cmake", "ctest", "cpack"})
            make_program(files_.path("bin/") + program, "exit 0");
    }

    void build_program() const {
        make_program(root() / "build" / "release" / "bench" / "corozk-bench",
                     "echo \"program: $*\"");
    }

    int run(const std::string& tool_and_words) {
        std::filesystem::remove(files_.path("said"));
        process_options what;
        what.command = {"bash",
                        "-c",
                        "PATH=\"$0:$PATH\" \"$1\"/tools/" + tool_and_words,
                        files_.path("bin"),
                        root()};
        what.output = files_.path("said");
        process_guard process(what);
        REQUIRE(process.wait(std::chrono::minutes(1)));
        return process.exit_status().value();
    }

    std::string said() const { return content_of(files_.path("said")); }
    std::filesystem::path root() const { return files_.path("root"); }

private:
    bench_run files_;
};

}  // namespace

TEST_CASE(
    "tools: bench asks for what its words need, and not for what those of a judged program do") {
    auto [words, set] = GENERATE(table<std::string, std::string>({
        {"judge --waiters 3 -- ./lock --hosts a:1 --report x --peers=kazoo --pictures", "bench"},
        {"judge --hosts a:1 -- ./lock --from y", "build"},
        {"compare --peers none", "bench"},
        {"compare --peers=none", "bench"},
        {"compare --peers kazoo", "bench,peers,peers"},
        {"herd --peers kazoo", "bench,peers"},
        {"systems --systems corozk", "bench"},
        {"systems --systems etcd", "bench,systems"},
        {"safety --peers none --systems corozk", "bench,clock"},
    }));
    INFO(words);
    fresh_checkout checkout;
    checkout.build_program();
    int code = checkout.run("bench " + words);
    INFO(checkout.said());
    CHECK(code == 0);
    CHECK(checkout.said().find("set: " + set + "\n") != std::string::npos);
    CHECK(checkout.said().find("program: " + words + "\n") != std::string::npos);
}

TEST_CASE("tools: what builds in a folder of its own does so where nothing was built yet") {
    std::string name = GENERATE("package", "io-uring");
    fresh_checkout checkout;
    int code = checkout.run(name);
    INFO(name << ": " << checkout.said());
    CHECK(code == 0);
    CHECK(std::filesystem::exists(checkout.root() / "build" / (name + ".log")));
}

TEST_CASE("tools: help installs, configures and builds nothing") {
    auto [name, words] = GENERATE(table<std::string, std::string>({{"bench", "--help"},
                                                                   {"bench", "compare --help"},
                                                                   {"bench", "help judge"},
                                                                   {"bench", "-h"},
                                                                   {"chaos", "--help"},
                                                                   {"matrix", "--help"},
                                                                   {"mutants", "--help"},
                                                                   {"schedules", "--help"},
                                                                   {"wire", "--help"}}));
    INFO(name << " " << words);
    bench_run files;
    // Whatever is called in place of these says so.
    std::filesystem::create_directory(files.path("bin"));
    for (const char* program : {"cmake", "ninja", "apt-get", "dpkg-query"}) {
        std::filesystem::path file = files.path("bin") + "/" + program;
        std::ofstream(file) << "#!/bin/sh\necho \"$0\" >> \"" << files.path("called") << "\"\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    process_options what;
    what.command = {"bash",
                    "-c",
                    "PATH=\"$0:$PATH\" \"$1/$2\" $3",
                    files.path("bin"),
                    COROZK_TOOLS_DIR,
                    name,
                    words};
    what.environment = {{"COROZK_NO_SETUP", "1"}};
    what.output = files.path("said");
    process_guard process(what);
    REQUIRE(process.wait(std::chrono::minutes(1)));
    std::string said = content_of(files.path("said"));
    INFO(said);
    CHECK(process.exit_status() == 0);
    CHECK(said.find("tools/" + name) != std::string::npos);
    CHECK(content_of(files.path("called")).empty());
}

}  // namespace corozk::testing::tools_test
