// SPDX-License-Identifier: Apache-2.0

#include "answer_layout.hpp"

#include "frame_bytes.hpp"
#include "jute.hpp"

#include <string_view>

namespace corozk::testing::detail {
namespace {

class layout_reader {
public:
    explicit layout_reader(std::string_view payload)
        : size_{payload.size()}, rest_{payload.substr(header_size)} {}

    answer_layout read(op_code op) {
        switch (op) {
            case op_code::multi:
                results();
                break;
            case op_code::get_data:
                rest_.buffer();
                record();
                break;
            case op_code::get_acl:
                access_rights();
                record();
                break;
            case op_code::get_children:
                names();
                break;
            case op_code::get_children2:
                names();
                record();
                break;
            default:
                one_result(op);
        }
        return found_;
    }

private:
    /** Of an operation that may also stand in a transaction. */
    void one_result(op_code op) {
        switch (op) {
            case op_code::create:
                created();
                break;
            case op_code::create2:
            case op_code::create_container:
            case op_code::create_ttl:
                created();
                record();
                break;
            case op_code::exists:
            case op_code::set_data:
            case op_code::set_acl:
                record();
                break;
            default:
                break;
        }
    }

    void results() {
        constexpr std::int32_t failed = -1;
        for (;;) {
            const std::int32_t type = rest_.int32();
            const bool done = rest_.boolean();
            rest_.int32();  // the error, once more
            if (done) {
                return;
            }
            if (type == failed) {
                rest_.int32();
            } else {
                one_result(static_cast<op_code>(type));
            }
        }
    }

    void names() {
        found_.names = here();
        const std::int32_t count = rest_.int32();
        for (std::int32_t i = 0; i < count; ++i) {
            rest_.buffer();
        }
    }

    void access_rights() {
        const std::int32_t count = rest_.int32();
        for (std::int32_t i = 0; i < count; ++i) {
            rest_.int32();
            rest_.buffer();
            rest_.buffer();
        }
    }

    void created() {
        found_.created.push_back(here());
        rest_.buffer();
    }

    void record() {
        constexpr int numbers = 17;  // of 32 bits
        found_.records.push_back(here());
        for (int i = 0; i < numbers; ++i) {
            rest_.int32();
        }
    }

    std::size_t here() const { return size_ - rest_.rest().size(); }

    std::size_t size_;
    jute_reader rest_;
    answer_layout found_;
};

}  // namespace

answer_layout layout_of(const frame_info& frame) {
    if (frame.kind != frame_kind::reply || frame.error != 0 || frame.payload.size() < header_size) {
        return {};
    }
    try {
        return layout_reader{frame.payload}.read(frame.op);
    } catch (const malformed_frame&) {
        return {};
    }
}

}  // namespace corozk::testing::detail
