// SPDX-License-Identifier: Apache-2.0
// The columns of the fault matrix.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace corozk::matrix {

enum class fault : std::uint8_t {
    none,
    request_lost,  ///< and the connection cut
    answer_lost,   ///< carried out, and the connection cut
    cut_after_answer,
    answer_delayed,
    short_hole,     ///< too short to be noticed
    noticed_hole,   ///< the client gives up the connection, the session may live
    long_hole,      ///< the session does not live
    deadline_hole,  ///< nothing is answered until long after the deadline; the connection stays
    slow_answers,   ///< each takes so long that a few of them take longer than the time allowed
    cancel_terminal,
    cancel_partial,
    cancel_total,
    destroy_object,
    drop_grant,  ///< what was granted is destroyed
    close_client,
    destroy_client,
    expired,              ///< by a client with its id and password, and the connection cut
    server_restarted,     ///< killed and restarted
    client_stopped,       ///< the event loop is blocked for longer than the session lives
    own_node_deleted,     ///< all that our session has
    oldest_node_deleted,  ///< one of several
    newest_node_deleted,
    parent_deleted,
    foreign_children,  ///< other programs' nodes below our parent node
    second_object,     ///< another object of the same session does the same
    chroot,
    restricted_acl,  ///< all nodes are accessible to their creator only
    forbidding_acl,  ///< ... and that is another client
    may_not_read,    ///< below the parent node ours may do everything but this
    may_not_write,
    may_not_create,
    may_not_delete,
};

/// Where in a scenario a fault can be put.
enum class places : std::uint8_t {
    run,          ///< it lasts for the whole run
    frames,       ///< at each request, and in each state
    answers,      ///< at each request, behind each answer, and in each state
    frames_only,  ///< at each request
    states,
};

struct fault_traits {
    fault id;
    std::string_view name;   ///< for `--fault` and `--case`
    std::string_view title;  ///< the column's
    places where;
    bool slow;  ///< takes longer than a session timeout
};

inline constexpr std::array fault_table = {
    fault_traits{fault::none, "none", "none", places::run, false},
    fault_traits{fault::request_lost, "request lost", "req.lost", places::frames_only, false},
    fault_traits{fault::answer_lost, "answer lost", "ans.lost", places::frames_only, false},
    fault_traits{fault::cut_after_answer, "cut after answer", "cut", places::frames_only, false},
    fault_traits{fault::answer_delayed, "answer delayed", "delay", places::frames_only, false},
    fault_traits{fault::short_hole, "short hole", "hole<", places::frames, false},
    fault_traits{fault::noticed_hole, "noticed hole", "hole~", places::frames, true},
    fault_traits{fault::long_hole, "long hole", "hole>", places::frames, true},
    fault_traits{fault::deadline_hole, "deadline hole", "hole|", places::frames, true},
    fault_traits{fault::slow_answers, "slow answers", "slow", places::run, true},
    fault_traits{fault::cancel_terminal, "cancel terminal", "c.term", places::answers, false},
    fault_traits{fault::cancel_partial, "cancel partial", "c.part", places::answers, false},
    fault_traits{fault::cancel_total, "cancel total", "c.total", places::answers, false},
    fault_traits{fault::destroy_object, "destroy object", "destroy", places::answers, false},
    fault_traits{fault::drop_grant, "drop grant", "let go", places::answers, false},
    fault_traits{fault::close_client, "close client", "close", places::answers, false},
    fault_traits{fault::destroy_client, "destroy client", "drop", places::answers, false},
    fault_traits{fault::expired, "expired", "expired", places::frames, false},
    fault_traits{fault::server_restarted, "server restarted", "restart", places::states, false},
    fault_traits{fault::client_stopped, "client stopped", "stopped", places::states, true},
    fault_traits{fault::own_node_deleted, "own node deleted", "own.del", places::states, false},
    fault_traits{
        fault::oldest_node_deleted, "oldest node deleted", "old.del", places::states, false},
    fault_traits{
        fault::newest_node_deleted, "newest node deleted", "new.del", places::states, false},
    fault_traits{fault::parent_deleted, "parent deleted", "par.del", places::states, false},
    fault_traits{fault::foreign_children, "foreign children", "foreign", places::states, false},
    fault_traits{fault::second_object, "second object", "second", places::states, false},
    fault_traits{fault::chroot, "chroot", "chroot", places::run, false},
    fault_traits{fault::restricted_acl, "restricted ACL", "acl", places::run, false},
    fault_traits{fault::forbidding_acl, "forbidding ACL", "no acl", places::run, false},
    fault_traits{fault::may_not_read, "may not read", "no r", places::run, false},
    fault_traits{fault::may_not_write, "may not write", "no w", places::run, false},
    fault_traits{fault::may_not_create, "may not create", "no c", places::run, false},
    fault_traits{fault::may_not_delete, "may not delete", "no d", places::run, false},
};

inline const fault_traits& traits_of(fault f) {
    return fault_table.at(static_cast<std::size_t>(f));
}

inline std::string_view to_string(fault f) {
    return traits_of(f).name;
}

inline std::optional<fault> fault_named(std::string_view name) {
    for (const fault_traits& t : fault_table) {
        if (t.name == name)
            return t.id;
    }
    return std::nullopt;
}

/// The session is gone afterwards, or may be.
inline bool ends_session(fault f) {
    return f == fault::noticed_hole || f == fault::long_hole || f == fault::expired ||
           f == fault::client_stopped;
}

/// The connection breaks, or may: what is not repeated ends with that.
inline constexpr std::array connection_breakers = {fault::request_lost,
                                                   fault::answer_lost,
                                                   fault::cut_after_answer,
                                                   fault::server_restarted,
                                                   fault::expired,
                                                   fault::noticed_hole,
                                                   fault::long_hole,
                                                   fault::client_stopped};

/// For scenarios that differ from others by their requests only: what strikes at single requests.
inline constexpr std::initializer_list<fault> at_requests = {fault::request_lost,
                                                             fault::answer_lost,
                                                             fault::cut_after_answer,
                                                             fault::answer_delayed,
                                                             fault::short_hole,
                                                             fault::cancel_terminal,
                                                             fault::destroy_object,
                                                             fault::close_client,
                                                             fault::destroy_client,
                                                             fault::expired,
                                                             fault::long_hole};
inline constexpr const char* other_requests =
    "other scenarios show it; this one has other requests";

/// Of those, what neither ends a call nor the session.
inline constexpr std::initializer_list<fault> survived = {
    fault::request_lost, fault::answer_lost, fault::cut_after_answer, fault::answer_delayed};

/// Another client deletes one or all of the nodes that our session has.
inline bool deletes_own(fault f) {
    return f == fault::own_node_deleted || f == fault::oldest_node_deleted ||
           f == fault::newest_node_deleted;
}

/// The parent node withholds one permission from ours.
inline bool withholds(fault f) {
    return f == fault::may_not_read || f == fault::may_not_write || f == fault::may_not_create ||
           f == fault::may_not_delete;
}

/// The frame that it happens to may be an event of a watch.
inline bool happens_to_notifications(fault f) {
    return f == fault::answer_lost || f == fault::cut_after_answer || f == fault::answer_delayed ||
           f == fault::expired || traits_of(f).where == places::answers;
}

/// Worth a second look when what it causes has come, and not only in the same moment.
inline bool has_aftermath(fault f) {
    return f == fault::short_hole || f == fault::server_restarted || ends_session(f);
}

/// Of operations with a time limit, which is short then.
inline bool is_about_deadlines(fault f) {
    return f == fault::deadline_hole || f == fault::slow_answers;
}

/// Operations are ended by their own side.
inline bool interrupts(fault f) {
    return traits_of(f).where == places::answers;
}

inline bool cancels(fault f) {
    return f == fault::cancel_terminal || f == fault::cancel_partial || f == fault::cancel_total;
}

/// Also between any two handlers of the event loop, where a scenario asks for it.
inline bool comes_between_turns(fault f) {
    return f == fault::cancel_terminal || f == fault::destroy_object || f == fault::close_client ||
           f == fault::destroy_client;
}

}  // namespace corozk::matrix
