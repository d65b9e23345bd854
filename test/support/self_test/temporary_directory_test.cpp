// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/temporary_directory.hpp"

#include <catch2/catch.hpp>

#include <fstream>

namespace corozk::testing::temporary_directory_test {

namespace fs = std::filesystem;
using corozk::testing::storage;
using corozk::testing::temporary_directory;

TEST_CASE("a temporary directory exists for as long as its object") {
    const auto where = GENERATE(storage::memory, storage::disk);
    fs::path path;
    {
        const temporary_directory directory{where};
        path = directory.path();
        CHECK(fs::is_directory(path));
        fs::create_directories(path / "a" / "b");
        std::ofstream{path / "a" / "b" / "file"} << "text";
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("temporary directories of the living are distinct and left alone") {
    const temporary_directory first;
    const temporary_directory second;
    CHECK(first.path() != second.path());
    CHECK(fs::exists(first.path()));
}

TEST_CASE("a directory whose owner is gone is removed by the next one") {
    const temporary_directory first;
    const fs::path abandoned = first.path().parent_path() / "corozk-test-abandoned";
    fs::create_directories(abandoned / "data");
    std::ofstream{abandoned / ".owner"};
    const fs::path unrelated = first.path().parent_path() / "corozk-test-without-owner-file";
    fs::create_directories(unrelated);
    const temporary_directory second;
    CHECK_FALSE(fs::exists(abandoned));
    CHECK(fs::exists(unrelated));
    fs::remove(unrelated);
}

}  // namespace corozk::testing::temporary_directory_test
