// SPDX-License-Identifier: Apache-2.0
// Who was wrong, by the stack that a client of tools/wire leaves.
#include "../wire/crash_place.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::crash_place_test {

namespace {

using corozk::wire::c_client_end;
using corozk::wire::how_c_client_ended;
using corozk::wire::place_in_c_client;

const std::string head =
    "connect: Success\n"
    "crashed; the stack:\n"
    "corozk::testing::report_crash(int) at /x/test/crash_report.hpp:15\n"
    "/lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7f0c8385a050]\n";
const std::string c_client =
    "/lib/x86_64-linux-gnu/libzookeeper_st.so.2(+0xa089)[0x7f0c83ce2089]\n"
    "/lib/x86_64-linux-gnu/libzookeeper_st.so.2"
    "(zookeeper_process+0x920)[0x7f0c83ce4b50]\n"
    "corozk::detail::session::read_packets() at /x/session.cpp:214\n";
const std::string standard =
    "/lib/x86_64-linux-gnu/libc.so.6(+0x156219)[0x7f0c83974219]\n"
    "std::char_traits<char>::length(char const*) at /x/char_traits.h:395\n";

}  // namespace

TEST_CASE("a process that did not crash has no place") {
    CHECK(place_in_c_client("connect: Success\nhealed: Success\n").empty());
}

TEST_CASE("the C client's assertion is the C client's") {
    CHECK(place_in_c_client(head + "/lib/x86_64-linux-gnu/libc.so.6(abort+0xd3)[0x7f]\n" +
                            c_client) == "libzookeeper_st.so.2(+0xa089)");
}

TEST_CASE("what a sanitizer has put in the place of the C library's is nobody's") {
    std::string below = "/x/test_wire(___interceptor_backtrace+0x46)[0x55b177dc77c6]\n" + head +
                        "__asan::Allocator::Deallocate(void*, unsigned long) at :?\n"
                        "/x/test_wire(__interceptor_free+0x16c)[0x55b177e1fe8c]\n";
    CHECK_FALSE(place_in_c_client("crashed; the stack:\n" + below + c_client).empty());
    std::string ours = "corozk::detail::session::turn() at /x/session.cpp:161\n";
    CHECK(place_in_c_client("crashed; the stack:\n" + below + ours).empty());
}

TEST_CASE("what the C client has merely called is elsewhere") {
    std::string lists = "corozk::detail::on_children(int) at /x/answers.cpp:9\n";
    CHECK(place_in_c_client(head + standard + lists + c_client).empty());
    // A stack that nobody has resolved.
    CHECK(place_in_c_client(head + "/x/test_wire(+0x2f050)[0x55c3460b9050]\n" + c_client).empty());
}

TEST_CASE("a sanitizer's stack begins at the wrong access") {
    const std::string error =
        "==7==ERROR: AddressSanitizer: attempting free on address\n"
        "    #0 0x5581 in free (/x/test_wire+0x1234)\n";
    const std::string freed =
        "    #1 0x7f10  (/lib/x86_64-linux-gnu/libzookeeper_st.so.2+0x9d03)\n";
    const std::string called =
        "    #2 0x7f11 in zookeeper_process (/lib/x86_64-linux-gnu/libzookeeper_st.so.2+0xbb4f)\n"
        "    #3 0x5582 in corozk::detail::handle::process(bool, bool) /x/handle.cpp:492:14\n";
    CHECK(place_in_c_client(error + freed + called) == "libzookeeper_st.so.2+0x9d03)");
    CHECK(place_in_c_client(error + called) == "zookeeper_process");

    const std::string ours =
        "    #1 0x5584 in corozk::detail::session::turn() /x/session.cpp:161\n";
    CHECK(place_in_c_client(error + ours + called).empty());
    const std::string loop = "    #1 0x5584 in boost::asio::detail::scheduler::run() /x/s.ipp:1\n";
    CHECK(place_in_c_client(error + loop + called).empty());
}

TEST_CASE("the C client's assertions are told apart by what they say") {
    const std::string aborted =
        head + "/lib/x86_64-linux-gnu/libc.so.6(abort+0xd3)[0x7f]\n" + c_client;
    auto assertion = [](const std::string& what) {
        return "test_wire: ./zookeeper.c:3476: " + what + " failed.\n";
    };
    CHECK(how_c_client_ended(assertion("zookeeper_process: Assertion `cptr'") + aborted) ==
          c_client_end::nobody_waits);
    CHECK(how_c_client_ended(assertion("deserialize_multi: Assertion `entry'") + aborted) ==
          c_client_end::no_result_wanted);
    CHECK(how_c_client_ended(assertion("process_completions: Assertion `cptr'") + aborted) ==
          c_client_end::elsewhere);
    CHECK(how_c_client_ended(aborted) == c_client_end::elsewhere);
}

TEST_CASE("a wrong access is the C client's own where no function that it exports has made it") {
    CHECK(how_c_client_ended(head + c_client) == c_client_end::wrong_access);
    // What frees what was never read.
    const std::string frees =
        "/lib/x86_64-linux-gnu/libzookeeper_st.so.2(deallocate_ACL_vector+0x20)[0x7f0c83ce2089]\n";
    CHECK(how_c_client_ended(head + frees + c_client) == c_client_end::elsewhere);
    CHECK(how_c_client_ended(head + "/lib/x86_64-linux-gnu/libc.so.6(cfree+0x20)[0x7f]\n" +
                             c_client) == c_client_end::elsewhere);
    CHECK(how_c_client_ended(head + standard + c_client) == c_client_end::elsewhere);
    CHECK(how_c_client_ended("healed: Success\n") == c_client_end::elsewhere);
}

}  // namespace corozk::testing::crash_place_test
