// SPDX-License-Identifier: Apache-2.0
#include "safety/file_store.hpp"

#include <corozk/testing/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

namespace corozk::testing::file_store_test {

using bench::file_store;

TEST_CASE("file store: a smaller token is refused, if tokens are checked") {
    temporary_directory folder;
    file_store checked(folder.path() / "set", true);
    CHECK(checked.write(2, "a"));
    CHECK_FALSE(checked.write(1, "b"));
    CHECK(checked.read() == "a\n");
    CHECK(file_store(folder.path() / "set", false).write(1, "b"));
    CHECK(checked.read() == "b\n");
}

TEST_CASE("file store: what could not be written is not said to be") {
    temporary_directory folder;
    std::filesystem::create_symlink("/dev/full", folder.path() / "set");
    CHECK_THROWS(file_store(folder.path() / "set", false).write(1, "a"));
}

}  // namespace corozk::testing::file_store_test
