// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"
#include "wire/conversation.hpp"
#include "wire/frame_splitter.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

std::span<unsigned char> span_of(std::string& frame) {
    return {reinterpret_cast<unsigned char*>(frame.data()), frame.size()};
}

/// A conversation in which one request of each form awaits its response.
class all_asked {
public:
    all_asked() {
        jute_writer connect;
        connect.int32(0)
            .int64(0)
            .int32(10'000)
            .int64(0)
            .buffer(std::string(16, 'p'))
            .boolean(false);
        std::string frame = framed(connect.bytes());
        about.sent(span_of(frame));
        const std::string a = jute_writer().buffer("/a").bytes();
        const std::string any = jute_writer().raw(a).int32(-1).bytes();
        const std::string read = jute_writer().raw(a).boolean(true).bytes();
        const std::string open = jute_writer().int32(1).int32(31).buffer("a").buffer("b").bytes();
        const std::string made = jute_writer().raw(a).buffer("x").raw(open).int32(0).bytes();
        const std::string changed = jute_writer().raw(a).buffer("x").int32(-1).bytes();
        ask(wire_op::create2, made);
        ask(wire_op::remove, any);
        ask(wire_op::exists, read);
        ask(wire_op::get_data, read);
        ask(wire_op::set_data, changed);
        ask(wire_op::get_acl, a);
        ask(wire_op::set_acl, jute_writer().raw(a).raw(open).int32(-1).bytes());
        ask(wire_op::get_children2, read);
        ask(wire_op::sync, a);
        jute_writer steps;
        step(steps, wire_op::create, made);
        step(steps, wire_op::check, any);
        step(steps, wire_op::set_data, changed);
        step(steps, wire_op::remove, any);
        ask(wire_op::multi, steps.int32(-1).boolean(true).int32(-1).bytes());
        jute_writer reads;
        step(reads, wire_op::get_data, read);
        step(reads, wire_op::get_children, read);
        ask(wire_op::multi_read, reads.int32(-1).boolean(true).int32(-1).bytes());
        ask(wire_op::who_am_i, {});
        for (wire_op op : {wire_op::set_watches, wire_op::ping, wire_op::auth})
            ask(op, {});
    }

    conversation about;

private:
    static void step(jute_writer& steps, wire_op op, const std::string& body) {
        steps.int32(static_cast<std::int32_t>(op)).boolean(false).int32(-1).raw(body);
    }

    void ask(wire_op op, const std::string& body) {
        jute_writer request;
        request.int32(0).int32(static_cast<std::int32_t>(op)).raw(body);
        std::string frame = framed(request.bytes());
        about.sent(span_of(frame));
    }
};

/// What is done with a response.
void read_response(const reception& r, std::string_view input) {
    if (r.error != 0 || r.op == wire_op::multi_read)
        return;
    jute_reader body{r.body};
    if (r.op == wire_op::multi) {
        constexpr const char* results[] = {"p", "", "S", ""};
        for (const char* result : results) {
            bool failed = body.int32() == -1;
            body.boolean();
            body.int32();
            read_record(body, failed ? "i" : result);
        }
        body.take(9);
    } else {
        read_record(body, form_of(r.op).response);
    }
    require(!body.failed() && body.empty(), "a response can be read", input);
}

}  // namespace

/// Frames, each with a length of one byte, in a conversation in which everything is awaited.
void conversations(std::string_view input) {
    all_asked t;
    for (jute_reader in{input}; !in.empty();) {
        auto size = static_cast<unsigned char>(in.take(1).front());
        std::string frame = framed(in.take(std::min<std::size_t>(size, in.rest().size())));
        const std::size_t whole = frame.size();
        const std::size_t awaited = t.about.awaited();
        const reception r = t.about.received(span_of(frame));
        require(frame.size() == whole, "in place", input);
        require(r.problem.empty() == (r.what != reception::kind::refused), "a reason", input);
        if (r.what == reception::kind::refused)
            return;
        if (r.what == reception::kind::event) {
            require(
                is_wire_path(r.path) && r.event_type >= 1 && r.event_type <= 4, "an event", input);
            require(t.about.awaited() == awaited, "for which nobody has asked", input);
            continue;
        }
        require(t.about.awaited() + 1 == awaited, "one response less is awaited", input);
        const bool of_session = r.op == wire_op::create_session || r.op == wire_op::ping;
        require(of_session == (r.what == reception::kind::session), "whose it is", input);
        require(!of_session || frame.size() <= 64, "small frames for the C client", input);
        if (!of_session)
            read_response(r, input);
    }
}

/// A byte stream: the same frames however it arrives.
void frame_streams(std::string_view input) {
    constexpr std::size_t bound = 1'000;
    auto split = [input](std::size_t piece) {
        frame_splitter splitter(bound);
        std::vector<std::string> frames;
        for (std::string_view rest = input; !rest.empty();) {
            const std::string_view part = rest.substr(0, piece);
            rest.remove_prefix(part.size());
            std::copy(part.begin(), part.end(), splitter.room(part.size()).begin());
            splitter.filled(part.size());
            for (auto frame = splitter.next(); !frame.empty(); frame = splitter.next()) {
                require(frame.size() <= bound + 4, "no more than the bound", input);
                frames.emplace_back(frame.begin(), frame.end());
            }
            require(splitter.capacity() <= 2 * input.size() + part.size(), "memory", input);
        }
        const bool problem = !splitter.problem().empty();
        require(problem || splitter.pending() < bound + 4, "the rest of a frame", input);
        frames.emplace_back(problem ? "problem" : "");
        return frames;
    };
    const std::vector<std::string> whole = split(input.size());
    std::string joined;
    for (std::size_t i = 0; i + 1 < whole.size(); ++i)
        joined += whole[i];
    require(input.starts_with(joined), "nothing is lost", input);
    for (std::size_t piece : {1u, 3u, 7u})
        require(split(piece) == whole, "the same frames", input);
}

}  // namespace corozk::fuzz
