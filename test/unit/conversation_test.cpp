// SPDX-License-Identifier: Apache-2.0
#include "wire/conversation.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace corozk::testing::conversation_test {

using namespace corozk::detail;
using namespace std::string_literals;
using kind = reception::kind;

std::span<unsigned char> span_of(std::string& frame) {
    return {reinterpret_cast<unsigned char*>(frame.data()), frame.size()};
}

std::int32_t xid_of(const std::string& frame) {
    return jute_reader{std::string_view(frame).substr(4)}.int32();
}

std::string connect_request(std::int64_t session = 0,
                            std::int64_t zxid = 0,
                            bool allows_read_only = true,
                            std::int32_t timeout = 10'000) {
    jute_writer body;
    body.int32(0)
        .int64(zxid)
        .int32(timeout)
        .int64(session)
        .buffer(std::string(16, 'p'))
        .boolean(allows_read_only);
    return framed(body.bytes());
}

std::string connect_response(std::int64_t session,
                             std::int32_t timeout = 10'000,
                             bool read_only = false) {
    jute_writer body;
    body.int32(0).int32(timeout).int64(session).buffer(std::string(16, 'p')).boolean(read_only);
    return framed(body.bytes());
}

std::string request(std::int32_t xid, wire_op op, std::string_view body = {}) {
    return framed(jute_writer().int32(xid).int32(static_cast<std::int32_t>(op)).raw(body).bytes());
}

std::string response(std::int32_t xid,
                     std::string_view body = {},
                     std::int32_t error = 0,
                     std::int64_t zxid = 7) {
    return framed(jute_writer().int32(xid).int64(zxid).int32(error).raw(body).bytes());
}

std::string event(std::int32_t type, std::int32_t state, std::string_view path) {
    return response(-1, jute_writer().int32(type).int32(state).buffer(path).bytes(), 0, -1);
}

std::string text(std::string_view value) {
    return jute_writer().buffer(value).bytes();
}

std::string number(std::int32_t value) {
    return jute_writer().int32(value).bytes();
}

std::string step(wire_op type, std::string_view body = {}, std::int32_t error = 0) {
    jute_writer header;
    header.int32(static_cast<std::int32_t>(type)).boolean(false).int32(error).raw(body);
    return header.bytes();
}

const std::string stat(68, '\1');
const std::string null_data = number(-1);
const std::string end_of_steps = jute_writer().int32(-1).boolean(true).int32(-1).bytes();
const std::string acl = number(1) + number(31) + text("world") + text("anyone");
const std::string creation = text("/a") + text("data") + acl + number(0);

/// A conversation that has begun, and what was sent and received in it.
struct talk {
    explicit talk(std::int64_t session = 0) {
        std::string asked = connect_request(session);
        about.sent(span_of(asked));
    }

    talk& connected() {
        REQUIRE(receive(connect_response(0x1234)).what == kind::session);
        return *this;
    }

    /// @return the xid
    std::int32_t send(std::string frame) {
        about.sent(span_of(frame));
        return xid_of(frame);
    }

    /// What is received refers to the last frame.
    reception receive(std::string frame) {
        last = std::move(frame);
        return about.received(span_of(last));
    }

    conversation about;
    std::string last;
};

TEST_CASE("conversation: requests get consecutive xids, and responses come in their order") {
    talk t;
    CHECK(t.about.awaited() == 1);
    t.connected();
    CHECK(t.about.awaited() == 0);
    CHECK(t.send(request(0, wire_op::exists, text("/a") + "\0"s)) == 1);
    CHECK(t.send(request(9, wire_op::get_data, text("/a") + "\1"s)) == 2);
    CHECK(t.send(request(0, wire_op::remove, text("/a") + number(-1))) == 3);
    CHECK(t.about.awaited() == 3);

    reception r = t.receive(response(1, stat, 0, 100));
    CHECK(r.what == kind::response);
    CHECK(r.op == wire_op::exists);
    CHECK(r.zxid == 100);

    r = t.receive(response(2, text("data") + stat, 0, 101));
    CHECK(r.what == kind::response);
    CHECK(r.body == text("data") + stat);

    r = t.receive(response(3, "", -101, 102));
    CHECK(r.what == kind::response);
    CHECK(r.error == -101);
    CHECK(t.about.awaited() == 0);
    CHECK(t.about.last_zxid() == 102);
}

TEST_CASE("conversation: the connect request claims no less than what was seen") {
    conversation about{500};
    std::string asked = connect_request(1, 300);
    about.sent(span_of(asked));
    CHECK(asked == connect_request(1, 500));
    conversation newer{200};
    asked = connect_request(1, 300);
    newer.sent(span_of(asked));
    CHECK(asked == connect_request(1, 300));
    CHECK(newer.last_zxid() == 300);
}

TEST_CASE("conversation: the connect request asks for the timeout that was configured") {
    conversation about{0, 30'000};
    std::string asked = connect_request();  // with what an earlier server has granted
    about.sent(span_of(asked));
    CHECK(asked == connect_request(0, 0, true, 30'000));
}

TEST_CASE("conversation: responses to connect requests") {
    auto asked_for = [](std::int64_t session, const std::string& answer) {
        talk t(session);
        CHECK_FALSE(t.about.accepted());
        reception r = t.receive(answer);
        CHECK(t.about.established());
        CHECK(t.about.accepted() == (r.what != kind::refused));
        return r;
    };
    const std::string whole = connect_response(5);
    const std::string without_flag = framed(std::string_view(whole).substr(4, 36));
    CHECK(asked_for(0, whole).what == kind::session);
    CHECK(asked_for(0, whole).op == wire_op::create_session);
    CHECK(asked_for(5, without_flag).what == kind::session);
    CHECK(asked_for(5, connect_response(0, 0)).what == kind::session);  // the session has expired
    CHECK(asked_for(5, connect_response(6)).what == kind::session);     // it is another
    CHECK(asked_for(5, connect_response(5, 10'000, true)).what == kind::session);
    // Only a quorum knows that: such a server is no liar.
    const reception unknown = asked_for(5, connect_response(0, 0, true));
    CHECK(unknown.what == kind::refused);
    CHECK(unknown.given_up);

    auto with = [&](std::size_t at, std::string bytes) {
        return std::string(whole).replace(4 + at, bytes.size(), bytes);
    };
    for (const std::string& bad : {framed(""),
                                   framed(std::string_view(whole).substr(4, 35)),
                                   framed(whole.substr(4) + "xy"),
                                   with(0, number(42)),
                                   with(16, number(15)),
                                   with(16, number(-1)),
                                   with(16, number(1'000'000)),
                                   connect_response(0),
                                   connect_response(0, 0),
                                   connect_response(5, 0),
                                   connect_response(5, -1),
                                   connect_response(5, 29),
                                   connect_response(5, (1 << 30)),
                                   with(36, "\2")}) {
        reception r = asked_for(0, bad);
        CHECK(r.what == kind::refused);
        CHECK(r.problem.starts_with("response to connect: "));
    }
    CHECK(asked_for(5, connect_response(5, 0)).what == kind::refused);
    CHECK(asked_for(0, connect_response(5, 30)).what == kind::session);
    CHECK(asked_for(0, connect_response(5, (1 << 30) - 1)).what == kind::session);
}

TEST_CASE("conversation: a read-only server is refused unless the connect request allows it") {
    for (bool allowed : {true, false}) {
        conversation about;
        std::string asked = connect_request(0, 0, allowed);
        about.sent(span_of(asked));
        std::string answer = connect_response(5, 10'000, true);
        const reception r = about.received(span_of(answer));
        CHECK((r.what == kind::session) == allowed);
        CHECK(r.problem.empty() == allowed);
    }
}

TEST_CASE("conversation: every operation, and its response cut short, lengthened and failed") {
    const std::string names = number(2) + text("a") + text("b");
    struct example {
        wire_op op;
        std::string request;
        std::string response;
    };
    const std::vector<example> all = {
        {wire_op::create, creation, text("/a")},
        {wire_op::create2, creation, text("/a") + stat},
        {wire_op::create_container, creation, text("/a") + stat},
        {wire_op::create_ttl, creation + std::string(8, '\0'), text("/a") + stat},
        {wire_op::remove, text("/a") + number(-1), ""},
        {wire_op::exists, text("/a") + "\0"s, stat},
        {wire_op::get_data, text("/a") + "\0"s, text("data") + stat},
        {wire_op::get_data, text("/a") + "\0"s, null_data + stat},
        {wire_op::set_data, text("/a") + text("x") + number(-1), stat},
        {wire_op::get_acl, text("/a"), acl + stat},
        {wire_op::set_acl, text("/a") + acl + number(-1), stat},
        {wire_op::get_children, text("/a") + "\0"s, names},
        {wire_op::get_children, text("/a") + "\0"s, number(0)},
        {wire_op::get_children, text("/a") + "\0"s, names + stat},
        {wire_op::get_children2, text("/a") + "\0"s, names + stat},
        {wire_op::sync, text("/a"), text("/a")},
        {wire_op::reconfig, null_data + null_data + null_data, text("config") + stat},
        {wire_op::check_watches, text("/a") + number(3), ""},
        {wire_op::remove_watches, text("/a") + number(3), ""},
        {wire_op::sasl, text("token"), text("token")},
        {wire_op::sasl, text("token"), null_data},
        {wire_op::add_watch, text("/a") + number(1), number(0)},
        {wire_op::set_watches2, std::string(28, '\0'), ""},
        {wire_op::get_ephemerals, text("/"), number(1) + text("/a")},
        {wire_op::get_all_children_number, text("/a"), number(3)},
        {wire_op::who_am_i, "", number(1) + text("ip") + text("127.0.0.1")},
        {wire_op::multi,
         step(wire_op::create, creation) +
             step(wire_op::set_data, text("/a") + text("") + number(1)) + end_of_steps,
         step(wire_op::create, text("/a")) + step(wire_op::set_data, stat) + end_of_steps},
        {wire_op::multi, end_of_steps, end_of_steps},
        {wire_op::multi_read,
         step(wire_op::get_data, text("/a") + "\0"s) +
             step(wire_op::get_children, text("/a") + "\0"s) + end_of_steps,
         step(wire_op::get_data, text("x") + stat) + step(wire_op::get_children, names) +
             end_of_steps},
        {wire_op::close_session, "", ""},
    };
    for (const example& e : all) {
        CAPTURE(to_string(e.op), e.response.size());
        auto answered = [&](std::string_view body, std::int32_t error = 0) {
            talk t;
            t.connected().send(request(5, e.op, e.request));
            reception r = t.receive(response(1, body, error));
            CHECK(r.problem.empty() == (r.what != kind::refused));
            return r.what;
        };
        CHECK(answered(e.response) == kind::response);
        CHECK(answered("", -101) == kind::response);
        CHECK(answered(e.response, -101) == kind::response);
        for (std::int32_t gives_up : {-4, -7, -118})
            CHECK(answered("", gives_up) == kind::refused);
        for (std::size_t size = 0; size < e.response.size(); ++size) {
            const bool optional = (e.op == wire_op::add_watch && size == 0) ||
                                  (e.op == wire_op::set_acl && size == 0) ||
                                  (e.op == wire_op::get_children && size == names.size());
            CAPTURE(size);
            CHECK(answered(e.response.substr(0, size)) ==
                  (optional ? kind::response : kind::refused));
        }
        CHECK(answered(e.response + "x") == kind::refused);
    }
}

TEST_CASE("conversation: lists, strings and paths that cannot be read") {
    auto answered = [](wire_op op, const std::string& body) {
        talk t;
        t.connected().send(request(5, op, creation));
        return t.receive(response(1, body)).what;
    };
    for (std::int32_t count : {-1, -2, 1, 0x7fffffff, std::numeric_limits<std::int32_t>::min()}) {
        CHECK(answered(wire_op::get_children, number(count)) == kind::refused);
        CHECK(answered(wire_op::get_acl, number(count) + stat) == kind::refused);
    }
    CHECK(answered(wire_op::get_children, number(1) + null_data) == kind::refused);
    // Each would take more memory than bytes.
    const std::string nameless = number(2) + text("a") + text("");
    CHECK(answered(wire_op::get_children, nameless) == kind::refused);
    CHECK(answered(wire_op::get_children2, nameless + stat) == kind::refused);
    for (std::int32_t many : {100'000, 100'001}) {
        std::string entries = number(many);
        for (std::int32_t i = 0; i < many; ++i)
            entries += number(31) + text("") + text("");
        CHECK((answered(wire_op::get_acl, entries + stat) == kind::response) == (many == 100'000));
        std::string identities = number(many);
        for (std::int32_t i = 0; i < many; ++i)
            identities += text("") + text("");
        CHECK((answered(wire_op::who_am_i, identities) == kind::response) == (many == 100'000));
    }
    CHECK(answered(wire_op::get_data, number(-2) + stat) == kind::refused);
    CHECK(answered(wire_op::create, null_data) == kind::refused);
    CHECK(answered(wire_op::create, text("")) == kind::refused);
    CHECK(answered(wire_op::create, text("a")) == kind::refused);
    CHECK(answered(wire_op::create, text("/\0"s)) == kind::refused);
    CHECK(answered(static_cast<wire_op>(55), "") == kind::refused);
}

TEST_CASE("conversation: the lists of a response have no more than two million entries") {
    constexpr std::int32_t most = 2'000'000;
    auto listing = [](std::int32_t announced, std::int32_t sent, const std::string& entry) {
        std::string list = number(announced);
        list.reserve(list.size() + static_cast<std::size_t>(sent) * entry.size());
        for (std::int32_t i = 0; i < sent; ++i)
            list += entry;
        return list;
    };
    auto answered = [](wire_op op, const std::string& asked, const std::string& body) {
        talk t;
        t.connected().send(request(5, op, asked));
        const reception r = t.receive(response(1, body));
        return std::pair(r.what, r.too_long);
    };
    const std::pair good(kind::response, false), malformed(kind::refused, false),
        too_long(kind::refused, true);
    const std::string read = text("/a") + "\0"s;
    auto children = [&](std::int32_t announced, std::int32_t sent) {
        return answered(wire_op::get_children2, read, listing(announced, sent, text("a")) + stat);
    };
    CHECK(children(most, most) == good);
    CHECK(children(most + 1, most + 1) == too_long);
    // A number that nothing stands behind.
    CHECK(children(most + 1, 1'000) == malformed);
    CHECK(answered(wire_op::get_ephemerals, text("/"), listing(most, most, text("/"))) == good);
    CHECK(answered(wire_op::get_ephemerals, text("/"), listing(most + 1, most + 1, text("/"))) ==
          too_long);
    // Together, if there are several.
    auto reads = [&](std::int32_t sent) {
        const std::string asked = step(wire_op::get_children, read);
        const std::string results = step(wire_op::get_children, listing(sent, sent, text("a")));
        return answered(
            wire_op::multi_read, asked + asked + end_of_steps, results + results + end_of_steps);
    };
    CHECK(reads(most / 2) == good);
    CHECK(reads(most / 2 + 1) == too_long);
}

TEST_CASE("conversation: results of transactions") {
    const std::string two = step(wire_op::create, creation) +
                            step(wire_op::check, text("/a") + number(1)) + end_of_steps;
    auto answered = [](wire_op op, const std::string& steps, const std::string& results) {
        talk t;
        t.connected().send(request(5, op, steps));
        t.send(request(6, wire_op::sync, text("/a")));
        reception r = t.receive(response(1, results));
        if (r.what != kind::refused)
            CHECK(t.receive(response(2, text("/a"))).what == kind::response);
        return r.problem;
    };
    auto multi = [&](const std::string& results) { return answered(wire_op::multi, two, results); };
    const std::string made = step(wire_op::create, text("/a"));
    const std::string made_with_stat = step(wire_op::create2, text("/a") + stat);
    const std::string checked = step(wire_op::check);
    const std::string failed = step(wire_op::error, number(-101), -101);
    CHECK(multi(made + checked + end_of_steps) == "");
    CHECK(multi(failed + failed + end_of_steps) == "");
    CHECK(multi(made + failed + end_of_steps) == "");
    // Of steps that another one has kept from being applied.
    const std::string none = step(wire_op::error, number(0));
    CHECK(multi(none + failed + end_of_steps) == "");
    CHECK(multi(none + none + end_of_steps) ==
          "response to multi: no step of it has failed, and some have no result");
    CHECK(multi(made + none + end_of_steps) ==
          "response to multi: no step of it has failed, and some have no result");
    CHECK(multi(made + end_of_steps) == "response to multi: it has too few results");
    CHECK(multi(made + checked + checked + end_of_steps) ==
          "response to multi: it has too many results");
    CHECK(multi(checked + made + end_of_steps) ==
          "response to multi: it has a result of another type");
    CHECK(multi(made + checked) == "response to multi: it is malformed");
    CHECK(multi("") == "response to multi: it is malformed");
    CHECK(multi(made + step(wire_op::error, "", -101)) == "response to multi: it is malformed");
    CHECK(multi(step(wire_op::create, text("/a"), -1) + checked + end_of_steps) == "");
    CHECK(multi(made + step(wire_op::error, number(-4), -4) + end_of_steps) ==
          "response to multi: a step of it gives up the connection");

    // Which is no breach of the protocol, unlike the others.
    for (const std::string& second : {step(wire_op::error, number(-4), -4), checked + checked}) {
        talk t;
        t.connected().send(request(5, wire_op::multi, two));
        reception r = t.receive(response(1, made + second + end_of_steps));
        CHECK(r.what == kind::refused);
        CHECK(r.given_up == (second != checked + checked));
    }

    // Containers are answered with a stat.
    CHECK(multi(made_with_stat + checked + end_of_steps) == "");

    const std::string reads = step(wire_op::get_data, text("/a") + "\0"s) +
                              step(wire_op::get_children, text("/a") + "\0"s) + end_of_steps;
    auto multi_read = [&](const std::string& results) {
        return answered(wire_op::multi_read, reads, results);
    };
    const std::string names = step(wire_op::get_children, number(1) + text("a"));
    CHECK(multi_read(failed + names + end_of_steps) == "");
    CHECK(multi_read(failed + none + end_of_steps) != "");
    CHECK(multi_read(step(wire_op::get_data, "", -101) + names + end_of_steps) == "");
    CHECK(multi_read(step(wire_op::get_data, "") + names + end_of_steps) != "");
}

TEST_CASE("conversation: only what is awaited, in order") {
    auto problem = [](const std::vector<std::string>& sent, const std::string& answer) {
        talk t;
        t.connected();
        for (const std::string& frame : sent)
            t.send(frame);
        return t.receive(answer).problem;
    };
    const std::string sync = request(5, wire_op::sync, text("/a"));
    CHECK(problem({}, response(1)) == "response: none is awaited");
    CHECK(problem({sync}, response(5, text("/a"))) ==
          "response to sync: its xid is 5 instead of 1");
    CHECK(problem({sync, sync}, response(2, text("/a"))) ==
          "response to sync: its xid is 2 instead of 1");
    CHECK(problem({sync}, response(1, text("/a"), 0, -2)) == "frame: its zxid is negative");
    CHECK(problem({sync}, framed("three")) == "frame: it is shorter than a header");
    CHECK(problem({sync}, framed("")) == "frame: it is shorter than a header");
    CHECK(problem({sync}, response(1, text("/a")) + "x") == "frame: its length is wrong");
    CHECK(problem({sync}, "") == "frame: its length is wrong");

    talk twice;
    twice.connected().send(sync);
    CHECK(twice.receive(response(1, text("/a"))).what == kind::response);
    CHECK(twice.receive(response(1, text("/a"))).problem == "response: none is awaited");

    conversation silent;
    std::string early = connect_response(5);
    CHECK(silent.received(span_of(early)).problem == "frame: nothing was asked yet");
}

TEST_CASE("conversation: what the server does not know") {
    constexpr std::int32_t unimplemented = -6;
    constexpr std::int32_t marshalling_error = -5;
    const operation_set create2 = set_of(wire_op::create2);
    const std::string steps =
        step(wire_op::create_container, creation) + step(wire_op::check, text("/a") + number(1));
    talk t;
    t.connected();
    t.send(request(5, wire_op::get_data, text("/a") + "\1"s));
    t.send(request(0, wire_op::multi, steps + end_of_steps));
    t.send(request(6, wire_op::create2, creation));
    const operation_set transaction =
        set_of(wire_op::multi) | set_of(wire_op::create_container) | set_of(wire_op::check);
    CHECK(t.about.awaited_operations() == (set_of(wire_op::get_data) | transaction | create2));
    reception r;
    SECTION("said in turn") {
        r = t.receive(response(1, text("data") + stat));
        CHECK(r.asked == set_of(wire_op::get_data));
        CHECK_FALSE(r.not_known);
        r = t.receive(response(2, "", marshalling_error));
        CHECK(r.what == kind::response);
        CHECK(r.asked == transaction);
        CHECK(r.not_known);
        CHECK(t.about.awaited_operations() == create2);
        r = t.receive(response(3, "", unimplemented));
        CHECK(r.what == kind::response);
        CHECK(r.asked == create2);
        CHECK(r.not_known);
        CHECK(t.about.awaited_operations() == 0);
    }
    SECTION("said before earlier responses: the connection is of no more use") {
        r = t.receive(response(3, "", unimplemented));
        CHECK(r.what == kind::refused);
        CHECK(r.asked == create2);
        CHECK(r.not_known);
    }
    SECTION("the same of a transaction") {
        r = t.receive(response(2, "", unimplemented));
        CHECK(r.what == kind::refused);
        CHECK(r.asked == transaction);
    }
    SECTION("another error out of order, or of nothing, says nothing") {
        CHECK(t.receive(response(3, "", -101)).asked == 0);
    }
    SECTION("nothing was asked with that xid") {
        for (std::int32_t xid : {4,
                                 0,
                                 -3,
                                 std::numeric_limits<std::int32_t>::max(),
                                 std::numeric_limits<std::int32_t>::min()}) {
            talk other;
            other.connected().send(request(6, wire_op::create2, creation));
            CHECK(other.receive(response(xid, "", unimplemented)).asked == 0);
        }
    }
    SECTION("a bad request alone is marshalled wrongly, not unknown") {
        r = t.receive(response(1, "", marshalling_error));
        CHECK_FALSE(r.not_known);
    }
}

TEST_CASE("conversation: responses to pings and credentials come at any time, once each") {
    const std::string sync = request(5, wire_op::sync, text("/a"));
    for (auto [xid, op, what] : {std::tuple{-2, wire_op::ping, kind::session},
                                 std::tuple{-4, wire_op::auth, kind::response}}) {
        CAPTURE(xid);
        talk t;
        t.connected().send(sync);
        CHECK(t.send(request(0, op)) == xid);
        t.send(request(0, op));
        CHECK(t.about.awaited() == 3);
        reception r = t.receive(response(xid, "", 0, 0));
        CHECK(r.what == what);
        CHECK(r.op == op);
        CHECK(t.receive(response(1, text("/a"))).what == kind::response);
        CHECK(t.receive(response(xid, "", -115)).what == what);
        CHECK(t.about.awaited() == 0);
        CHECK(t.receive(response(xid)).what == kind::refused);

        talk long_one;
        long_one.connected().send(request(0, op));
        CHECK(long_one.receive(response(xid, "x")).problem.ends_with("longer than it should be"));
    }
}

TEST_CASE("conversation: watches set again have their own xid, and are responded to in order") {
    talk t;
    t.connected();
    const std::string none = std::string(20, '\0');
    CHECK(t.send(request(0, wire_op::set_watches, none)) == -8);
    CHECK(t.send(request(0, wire_op::set_watches, none)) == -8);
    CHECK(t.send(request(0, wire_op::sync, text("/a"))) == 1);
    reception r = t.receive(response(-8, "", 0, 50));
    CHECK(r.what == kind::response);
    CHECK(r.op == wire_op::set_watches);
    CHECK(t.about.last_zxid() == 50);
    SECTION("in order") {
        CHECK(t.receive(response(-8)).what == kind::response);
        CHECK(t.receive(response(1, text("/a"))).what == kind::response);
        CHECK(t.receive(response(-8)).problem == "response: none is awaited");
    }
    SECTION("out of order") {
        CHECK(t.receive(response(1, text("/a"))).problem ==
              "response to setWatches: its xid is 1 instead of -8");
    }
    SECTION("with something behind it") {
        CHECK(t.receive(response(-8, "x")).what == kind::refused);
    }
    SECTION("or not set: the connection is of no use") {
        for (std::int32_t error : {-5, -2, -127}) {
            talk other = t;
            r = other.receive(response(-8, "", error));
            CHECK(r.what == kind::refused);
            CHECK(r.given_up);
            CHECK(r.problem == "response to setWatches: the server does not set them again");
        }
        r = t.receive(response(-8, "", -112));  // the session has expired
        CHECK(r.what == kind::response);
    }
}

TEST_CASE("conversation: events") {
    const std::string any_request = request(5, wire_op::exists, text("/a") + "\0"s);
    talk t;
    t.connected();
    CHECK(t.receive(event(1, 3, "/a")).problem == "event: nothing was asked yet");
    t = talk();
    t.connected().send(any_request);
    for (std::int32_t type = 1; type <= 4; ++type) {
        reception r = t.receive(event(type, 3, "/a/b"));
        CHECK(r.what == kind::event);
        CHECK(r.event_type == type);
        CHECK(r.path == "/a/b");
    }
    CHECK(t.about.last_zxid() == 0);
    auto problem = [&](const std::string& frame) {
        talk other;
        other.connected().send(any_request);
        return other.receive(frame).problem;
    };
    CHECK(problem(event(-1, -112, "")) == "event: type -1");
    CHECK(problem(event(77, 3, "/a")) == "event: type 77");
    CHECK(problem(event(2, 77, "/a")) == "event: state 77");
    CHECK(problem(event(2, 3, "")) == "event: no path");
    CHECK(problem(event(2, 3, "garbage")) == "event: no path");
    CHECK(problem(event(2, 3, "/a\0b"s)) == "event: no path");
    const std::string whole = event(2, 3, "/somewhere");
    for (std::size_t size = 16; size < whole.size() - 4; ++size)
        CHECK(problem(framed(std::string_view(whole).substr(4, size))) == "event: it is malformed");
}

TEST_CASE("conversation: damaged frames are refused or can be read, and nothing else happens") {
    const std::string names = number(3) + text("a") + text("bc") + text("def");
    const std::string steps = step(wire_op::create, creation) +
                              step(wire_op::check, text("/a") + number(1)) + end_of_steps;
    struct exchange {
        wire_op op;
        std::string request;
        std::string body;
    };
    const std::vector<exchange> all = {
        {wire_op::get_data, text("/a") + "\0"s, text("data") + stat},
        {wire_op::get_children2, text("/a") + "\0"s, names + stat},
        {wire_op::get_acl, text("/a"), acl + stat},
        {wire_op::multi,
         steps,
         step(wire_op::create, text("/a")) + step(wire_op::check) + end_of_steps},
        {wire_op::create2, creation, text("/a") + stat},
    };
    std::mt19937 random{20'240'229};
    std::size_t refused = 0;
    constexpr int rounds = 20'000;
    for (int round = 0; round < rounds; ++round) {
        talk t;
        t.connected();
        std::vector<std::string> frames;
        for (std::int32_t xid = 1; xid <= 3; ++xid) {
            const exchange& e = all[random() % all.size()];
            t.send(request(xid, e.op, e.request));
            frames.push_back(event(1 + xid, 3, "/watched"));
            frames.push_back(response(xid, e.body));
        }
        std::string& victim = frames[random() % frames.size()];
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = 4 + random() % (victim.size() - 4);
            switch (random() % 4) {
                case 0: victim[at] = static_cast<char>(random()); break;
                case 1: victim[at] = static_cast<char>(victim[at] ^ (1 << random() % 8)); break;
                case 2: victim = framed(std::string_view(victim).substr(4, at - 4 + 1)); break;
                default: victim = framed(victim.substr(4, at - 4) + victim.substr(at / 2));
            }
        }
        for (const std::string& frame : frames) {
            const std::size_t before = t.about.awaited();
            const reception r = t.receive(frame);
            REQUIRE(r.problem.empty() == (r.what != kind::refused));
            if (r.what == kind::refused) {
                REQUIRE(t.about.awaited() == before);
                ++refused;
                break;
            }
            REQUIRE(t.about.awaited() == before - (r.what == kind::event ? 0 : 1));
        }
    }
    CHECK(refused > rounds / 4);
    CHECK(refused < rounds);
}

}  // namespace corozk::testing::conversation_test
