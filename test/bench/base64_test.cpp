// SPDX-License-Identifier: Apache-2.0
#include "program/base64.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::base64_test {

using namespace corozk::program;

TEST_CASE("base64: what RFC 4648 says of every length, and back") {
    const std::string all = "foobar";
    const char* texts[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (std::size_t size = 0; size <= all.size(); ++size) {
        INFO(size);
        CHECK(to_base64(all.substr(0, size)) == texts[size]);
        CHECK(from_base64(texts[size]) == all.substr(0, size));
    }
}

TEST_CASE("base64: bytes of any value come back") {
    std::string bytes;
    for (int value = 0; value < 256; ++value)
        bytes += static_cast<char>(value);
    CHECK(from_base64(to_base64(bytes)) == bytes);
    CHECK(to_base64("\xff\xef\xbe") == "/+++");
    CHECK_THROWS(from_base64("Zm9*"));
}

}  // namespace corozk::testing::base64_test
