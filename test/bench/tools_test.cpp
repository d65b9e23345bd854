// SPDX-License-Identifier: Apache-2.0
// `tools/NAME --help`: it is only shown.
#include "bench_run.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::tools_test {

using namespace corozk::testing;

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
