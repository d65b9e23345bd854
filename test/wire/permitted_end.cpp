// SPDX-License-Identifier: Apache-2.0
#include "permitted_end.hpp"

#include "crash_place.hpp"
#include "lie_witness.hpp"
#include <corozk/testing/wire_lie.hpp>

#include <algorithm>
#include <set>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define COROZK_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COROZK_ADDRESS_SANITIZER
#endif
#endif

namespace corozk::wire {

namespace {

using testing::op_code;
using testing::wire_lie;

/// One end of the process, and what may bring it about.
struct permitted_crash {
    c_client_end how;
    std::set<wire_lie> lies;
    std::set<op_code> answers;  ///< one of them was spoilt; empty: any frame
};

const std::vector<permitted_crash>& permitted_crashes() {
    static const std::vector<permitted_crash> all = {
        // An answer comes while none is awaited; a frame that stops inside may be followed by anything.
        {c_client_end::nobody_waits,
         {wire_lie::answered_twice,
          wire_lie::answer_to_nobody,
          wire_lie::swapped,
          wire_lie::garbage_frame,
          wire_lie::flipped_bit,
          wire_lie::stops_inside,
          wire_lie::event_stops_inside},
         {}},
        // The answer to a transaction ends early.
        {c_client_end::no_result_wanted,
         {wire_lie::stops_inside,
          wire_lie::ends_early,
          wire_lie::header_only,
          wire_lie::huge_inner_length,
          wire_lie::large_inner_count,
          wire_lie::negative_inner_length,
          wire_lie::garbage_body,
          wire_lie::flipped_bit},
         {op_code::multi}},
        // A list of more entries than there can be memory for. Names take a third of what access rights do.
        {c_client_end::wrong_access,
         {wire_lie::huge_inner_length,
          wire_lie::large_inner_count,
          wire_lie::garbage_body,
          wire_lie::flipped_bit},
         {op_code::get_acl, op_code::get_children, op_code::get_children2}},
    };
    return all;
}

bool allows(const permitted_crash& one, wire_lie lie, const std::string& output) {
    auto spoilt = [&output](op_code op) { return lied_at(op, output); };
    return one.lies.contains(lie) &&
           (one.answers.empty() || std::any_of(one.answers.begin(), one.answers.end(), spoilt));
}

/// An event ends before its path, or inside it: the C client looks up, and frees, what was never read.
bool is_of_an_event(wire_lie lie, const std::string& output) {
    bool ends_early = lie == wire_lie::event_that_ends_early || lie == wire_lie::event_cut_short ||
                      lie == wire_lie::event_stops_inside;
    return ends_early && !place_in_c_client(output).empty();
}

/// Sanitizers use the stack below the C client, where answers.cpp has left zeroes: the C client
/// frees what stood there.
bool is_excused_by_sanitizer(wire_lie lie, const std::string& output) {
#ifdef COROZK_ADDRESS_SANITIZER
    static const std::set<wire_lie> about_bodies = {wire_lie::stops_inside,
                                                    wire_lie::ends_early,
                                                    wire_lie::header_only,
                                                    wire_lie::huge_inner_length,
                                                    wire_lie::large_inner_count,
                                                    wire_lie::negative_inner_length,
                                                    wire_lie::garbage_body,
                                                    wire_lie::flipped_bit};
    return about_bodies.contains(lie) && !place_in_c_client(output).empty();
#else
    static_cast<void>(lie);
    static_cast<void>(output);
    return false;
#endif
}

}  // namespace

bool is_permitted_end(const wire_case& what, const std::string& output) {
    auto lie = testing::wire_lie_named(what.attack);
    if (!lie)
        return false;
    c_client_end how = how_c_client_ended(output);
    auto covers = [&](const permitted_crash& one) {
        return one.how == how && allows(one, *lie, output);
    };
    return std::any_of(permitted_crashes().begin(), permitted_crashes().end(), covers) ||
           is_of_an_event(*lie, output) || is_excused_by_sanitizer(*lie, output);
}

}  // namespace corozk::wire
