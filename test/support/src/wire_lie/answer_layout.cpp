// SPDX-License-Identifier: Apache-2.0

#include "answer_layout.hpp"

#include "frame_bytes.hpp"
#include "jute.hpp"
#include "wire/operation_form.hpp"

#include <string_view>

namespace corozk::testing::detail {
namespace {

using corozk::detail::form_of;
using corozk::detail::wire_op;

class layout_reader {
public:
    explicit layout_reader(std::string_view payload)
        : size_{payload.size()}, rest_{payload.substr(header_size)} {}

    answer_layout read(wire_op op) {
        if (op == wire_op::multi || op == wire_op::multi_read) {
            results();
        } else {
            fields(op, false);
        }
        return rest_.failed() ? answer_layout{} : found_;
    }

private:
    void fields(wire_op op, bool in_transaction) {
        const char* next = form_of(op).response;
        while (*next != '\0') {
            if (*next == '?') {
                if (in_transaction || rest_.empty()) {
                    return;
                }
                ++next;
                continue;
            }
            if (*next == 'p' && corozk::detail::is_creation(op)) {
                found_.created.push_back(here());
            } else if (*next == 'S') {
                found_.records.push_back(here());
            } else if (std::string_view{next}.starts_with("[n]")) {
                found_.names = here();
            }
            next = corozk::detail::read_field(rest_, next, budget_);
        }
    }

    void results() {
        for (;;) {
            const auto type = static_cast<wire_op>(rest_.int32());
            const bool done = rest_.boolean();
            rest_.int32();  // the error, once more
            if (done || rest_.failed()) {
                return;
            }
            if (type == wire_op::error) {
                rest_.int32();
            } else {
                fields(type, true);
            }
        }
    }

    std::size_t here() const { return size_ - rest_.rest().size(); }

    std::size_t size_;
    jute_reader rest_;
    corozk::detail::entry_budget budget_;
    answer_layout found_;
};

}  // namespace

answer_layout layout_of(const frame_info& frame) {
    if (frame.kind != frame_kind::reply || frame.error != 0 || frame.payload.size() < header_size) {
        return {};
    }
    return layout_reader{frame.payload}.read(static_cast<wire_op>(frame.op));
}

}  // namespace corozk::testing::detail
