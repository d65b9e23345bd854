// SPDX-License-Identifier: Apache-2.0
#include "wire/jute.hpp"

#include "wire/operation_form.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>

namespace corozk::testing::jute_test {

using namespace corozk::detail;
using namespace std::string_literals;

TEST_CASE("jute: what is written is read") {
    jute_writer writer;
    writer.boolean(true).int32(-5).int64(std::numeric_limits<std::int64_t>::min());
    writer.buffer("abc").buffer("").raw("\xff\xff\xff\xff");
    jute_reader reader{writer.bytes()};
    CHECK(reader.boolean());
    CHECK(reader.int32() == -5);
    CHECK(reader.int64() == std::numeric_limits<std::int64_t>::min());
    CHECK(reader.string() == "abc");
    std::string_view empty = reader.buffer();
    CHECK(empty.empty());
    CHECK(empty.data() != nullptr);
    CHECK(reader.buffer().data() == nullptr);
    CHECK(reader.empty());
    CHECK_FALSE(reader.failed());
}

TEST_CASE("jute: big-endian") {
    CHECK(jute_writer().int32(0x01020304).bytes() == "\1\2\3\4");
    CHECK(framed("ab") == "\0\0\0\2ab"s);
}

TEST_CASE("jute: a failed reader yields zeros, and stays failed") {
    jute_reader reader{"\1\2\3"};
    CHECK(reader.int32() == 0);
    CHECK(reader.failed());
    CHECK(reader.boolean() == false);
    CHECK(reader.int64() == 0);
    CHECK(reader.buffer().empty());
    CHECK(reader.empty());
}

TEST_CASE("jute: lengths that cannot be") {
    for (std::int32_t length : {-2, -1, 4, std::numeric_limits<std::int32_t>::max()}) {
        CAPTURE(length);
        const std::string bytes = jute_writer().int32(length).raw("abc").bytes();
        jute_reader as_string{bytes};
        CHECK(as_string.string().empty());
        CHECK(as_string.failed());
        jute_reader as_buffer{bytes};
        CHECK(as_buffer.buffer().empty());
        CHECK(as_buffer.failed() == (length != -1));
    }
}

TEST_CASE("jute: memory is given back once nothing is left in it") {
    jute_writer writer;
    writer.buffer(std::string(100'000, 'x'));
    writer.release(1000);
    CHECK(writer.bytes().size() == 100'004);
    writer.clear();
    CHECK(writer.capacity() >= 100'004);
    writer.release(1'000'000);
    CHECK(writer.capacity() >= 100'004);
    writer.release(1000);
    CHECK(writer.capacity() <= 1000);
    CHECK(writer.int32(1).bytes().size() == 4);
}

TEST_CASE("operation form: each operation has its own") {
    CHECK(to_string(wire_op::get_data) == "getData");
    CHECK(to_string(wire_op::close_session) == "closeSession");
    CHECK(to_string(wire_op::who_am_i) == "whoAmI");
    for (std::int32_t code = -20; code < 120; ++code) {
        const operation_form& form = form_of(static_cast<wire_op>(code));
        CHECK(&form_at(number_of(form)) == &form);
        CHECK((form.op == static_cast<wire_op>(code) || number_of(form) == 0));
    }
}

TEST_CASE("operation form: records") {
    auto left = [](std::string_view bytes, const char* fields, bool in_transaction = false) {
        jute_reader in{bytes};
        read_record(in, fields, in_transaction);
        return in.failed() ? -1 : static_cast<int>(in.rest().size());
    };
    const std::string names = jute_writer().int32(2).buffer("a").buffer("b").bytes();
    CHECK(left(names, "[s]") == 0);
    CHECK(left(names + "xx", "[s]b") == 1);
    CHECK(left(names, "[ss]") == -1);
    CHECK(left("\0\0\0\0\1"s, "[iss]b") == 0);
    CHECK(left("\0\0\0\0\1"s, "{iss}b") == 0);
    CHECK(left(names + "x", "{n}b") == 0);
    CHECK(left(jute_writer().int32(-1).bytes(), "[s]") == -1);
    CHECK(left(jute_writer().int32(1'000'000'000).bytes(), "[s]") == -1);
    CHECK(left(names, "[s]?S") == 0);
    CHECK(left(names + std::string(68, 's'), "[s]?S") == 0);
    CHECK(left(names + std::string(68, 's'), "[s]?S", true) == 68);
    CHECK(left(jute_writer().buffer("/a").bytes(), "p") == 0);
    CHECK(left(jute_writer().buffer("a").bytes(), "p") == -1);
    CHECK(left(jute_writer().buffer("/\0"s).bytes(), "p") == -1);
    CHECK(left(jute_writer().int32(-1).bytes(), "d") == 0);
    CHECK(left(jute_writer().int32(-1).bytes(), "s") == -1);
}

}  // namespace corozk::testing::jute_test
