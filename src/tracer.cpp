// SPDX-License-Identifier: Apache-2.0
#include <corozk/tracer.hpp>

namespace corozk {

namespace detail {
std::atomic<tracer*> installed_tracer{nullptr};
}

tracer::~tracer() = default;

std::string_view to_string(trace_kind kind) noexcept {
    switch (kind) {
        case trace_kind::operation:
            return "operation";
        case trace_kind::request:
            return "request";
        case trace_kind::tenure:
            return "tenure";
    }
    return "unknown";
}

}  // namespace corozk
