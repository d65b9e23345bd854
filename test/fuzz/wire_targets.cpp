// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"
#include "operation/operation.hpp"
#include "session/wire_request.hpp"
#include "wire/conversation.hpp"
#include "wire/frame_splitter.hpp"
#include <corozk/read_set.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

std::span<unsigned char> span_of(std::string& frame) {
    return {reinterpret_cast<unsigned char*>(frame.data()), frame.size()};
}

/// What a request of this form may consist of.
std::string fields_of(const char* form) {
    jute_writer out;
    for (; *form != '\0'; ++form) {
        switch (*form) {
            case 'b': out.boolean(true); break;
            case 'i': out.int32(-1); break;
            case 'l': out.int64(0); break;
            case 'p': out.buffer("/a"); break;
            case 's':
            case 'd': out.buffer("x"); break;
            case '[': out.int32(1); break;
            default: break;
        }
    }
    return out.bytes();
}

/// The steps of transactions that the session sends.
constexpr wire_op changes_at_once[] = {wire_op::create,
                                       wire_op::check,
                                       wire_op::set_data,
                                       wire_op::remove,
                                       wire_op::create_container,
                                       wire_op::create_ttl};
constexpr wire_op reads_at_once[] = {wire_op::get_data, wire_op::get_children};

std::string steps_of(std::span<const wire_op> ops) {
    jute_writer steps;
    for (wire_op op : ops)
        steps.int32(static_cast<std::int32_t>(op))
            .boolean(false)
            .int32(-1)
            .raw(fields_of(form_of(op).request));
    return steps.int32(-1).boolean(true).int32(-1).bytes();
}

/// A conversation in which one request of each form awaits its response, in the order of the forms.
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
        for (const operation_form& form : operation_forms) {
            switch (form.op) {
                case wire_op::error:
                case wire_op::create_session: break;
                case wire_op::multi: ask(form.op, steps_of(changes_at_once)); break;
                case wire_op::multi_read: ask(form.op, steps_of(reads_at_once)); break;
                default: ask(form.op, fields_of(form.request));
            }
        }
    }

    conversation about;

private:
    void ask(wire_op op, const std::string& body) {
        jute_writer request;
        request.int32(0).int32(static_cast<std::int32_t>(op)).raw(body);
        std::string frame = framed(request.bytes());
        about.sent(span_of(frame));
    }
};

/// The results of a transaction, or of reads, and the mark of their end.
void read_steps(jute_reader& body, wire_op op) {
    const bool reads = op == wire_op::multi_read;
    const std::size_t count = reads ? std::size(reads_at_once) : std::size(changes_at_once);
    for (std::size_t i = 0; i < count; ++i) {
        const auto type = static_cast<wire_op>(body.int32());
        body.boolean();
        const std::int32_t error = body.int32();
        if (type == wire_op::error)
            body.int32();
        else if (error == 0 || !reads)
            read_record(body, form_of(type).response, true);
    }
    body.take(9);
}

void read_response(const reception& r, std::string_view input) {
    if (r.error != 0)
        return;
    jute_reader body{r.body};
    if (r.op == wire_op::multi || r.op == wire_op::multi_read)
        read_steps(body, r.op);
    else
        read_record(body, form_of(r.op).response);
    require(!body.failed() && body.empty(), "a response can be read", input);
}

/// What the session has asked by such a request; nothing if it never asks it by an operation.
std::optional<op_code> asked_by(wire_op op) {
    switch (op) {
        case wire_op::create:
        case wire_op::create2:
        case wire_op::create_container:
        case wire_op::create_ttl: return op_code::create;
        case wire_op::remove: return op_code::erase;
        case wire_op::exists: return op_code::exists;
        case wire_op::get_data: return op_code::get;
        case wire_op::set_data: return op_code::set;
        case wire_op::get_acl: return op_code::get_acl;
        case wire_op::set_acl: return op_code::set_acl;
        case wire_op::get_children2: return op_code::children;
        case wire_op::sync: return op_code::sync;
        case wire_op::multi: return op_code::multi;
        case wire_op::multi_read: return op_code::read_all;
        case wire_op::reconfig: return op_code::reconfigure;
        case wire_op::remove_watches: return op_code::remove_watches;
        case wire_op::auth: return op_code::add_auth;
        case wire_op::set_watches: return op_code::set_watches;
        case wire_op::get_ephemerals: return op_code::ephemerals;
        case wire_op::get_all_children_number: return op_code::count_descendants;
        case wire_op::add_watch: return op_code::add_watch;
        case wire_op::who_am_i: return op_code::who_am_i;
        default: return std::nullopt;
    }
}

class answered_operation final : public operation {
public:
    explicit answered_operation(op_code of) : operation(of, "/a") {
        if (of == op_code::multi)
            results.resize(std::size(changes_at_once));
        if (of == op_code::read_all)
            reads = read_set().get("/a").children("/a").items();
    }

    void finished() noexcept override {}
};

/// What the session makes of it.
void complete_operation(const reception& r, std::string_view input) {
    const auto code = asked_by(r.op);
    if (!code)
        return;
    answered_operation op(*code);
    take_response(op, r, 1);
    require(op.zxid == r.zxid, "when it was", input);
    require(r.error == 0 || op.error, "an error is one", input);
    require(op.answer.size() + op.names.size() + op.entries.size() <= r.body.size(),
            "no more than was sent",
            input);
    std::size_t read = 0;
    for (const read_result& result : op.read_results)
        read += result.data.size() + result.names.size();
    require(read <= r.body.size(), "nor of several reads", input);
    if (!op.error && op.code == op_code::read_all)
        require(op.read_results.size() == op.reads.size(), "a result for each", input);
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
        if (of_session)
            continue;
        read_response(r, input);
        complete_operation(r, input);
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
