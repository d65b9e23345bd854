// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/kept_hold.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/types.hpp>

#include <chrono>
#include <list>
#include <memory>
#include <set>
#include <string>

namespace corozk::detail {

class kept_paths;

/// What kind of node is kept.
struct kept_node_kind {
    create_mode mode = create_mode::ephemeral;  ///< or `persistent`, `persistent_with_ttl`
    std::chrono::milliseconds ttl{0};
    create_mode parents = create_mode::container;  ///< of missing ones
    bool waits_for_any = false;  ///< also for the deletion of a node that belongs to no session
};

/// A node that is kept: it is re-created after session loss or deletion by another client, and its
/// data can be changed. Used by group membership, rendezvous, session-bound names and, with all its
/// kinds, `persistent_node`.
///
/// A single driver establishes the desired state at the server, so that operations cannot overtake
/// each other, such as a `release` during a re-creation, or a change of data in an outage.
///
/// If the path is occupied by a node of another session, waits for its deletion: it belongs to a
/// predecessor, or to an earlier session of this client, which the server may not have ended yet.
/// Within a client only one object keeps a path, so that a node of this session belongs to it;
/// other objects wait for it.
///
/// A node that is not ephemeral has no owner: one that is found is adopted while it is wanted: it
/// gets the data and, from then on, is deleted in the end. One with a TTL is written again at half
/// of it; if it expires in an outage, it is created again. What others write to it stays, until the
/// data is changed or the node created again.
///
/// It is lost, until it is seen or written again, when its session ends, when it is found missing or
/// replaced, or at the end of its `lease_term`. The last comes by a timer of its own: the driver may
/// be waiting for a response that never arrives.
///
/// Versions do not tell two nodes at one path apart, and no request names a node's owner. So nothing
/// is written or deleted in a connection before the node was seen in it: only one that replaces ours
/// within that round trip can be hit.
class kept_node final : public recipe_core,
                        public std::enable_shared_from_this<kept_node>,
                        private interest,
                        private session_observer {
public:
    using handler = handler_of<>;

    kept_node(port& p, std::string path, acl entries, kept_node_kind kind = kept_node_kind());
    ~kept_node();

    /// Creates the node and completes when it exists. `errc::busy`: already kept, or being
    /// released. `errc::already_exists`, unless `wait_for_predecessor`: kept by another object of
    /// this client, or by a session of another one. Also if it belongs to no session, unless that is
    /// waited for.
    void keep(std::string data, bool wait_for_predecessor, handler h, time_limit limit);

    /// Replaces its data and completes when the server has it.
    void change(std::string data, handler h, time_limit limit = time_limit::for_ever());

    /// Same as above. Joins a `keep` that is pending: that is undone only if all of them end early.
    void join(std::string data, handler h, time_limit limit);

    /// Deletes it and completes when it was deleted, at the latest with its session. Ends the calls
    /// that are pending with `operation_aborted`. What it waits for to be gone stays.
    void release(handler h, time_limit limit = time_limit::for_ever());

    /// The owner is destroyed: ends pending calls and deletes the node in the background, also if the
    /// client is closed directly afterwards.
    void abandon();

    /// Until `abandon`, sets a signal when the node becomes present, and when the server refuses it.
    void observe(signal& observer) noexcept { observer_ = &observer; }

    /// Until `abandon`.
    void follow(hold_follower& follower) noexcept { hold_.follow(&follower); }

    const node_hold& hold() const noexcept { return hold_.state(); }

    /// When it is lost unless the server responds before.
    time_point held_until() const noexcept;

    bool present() const noexcept { return node_.present && get_port().alive(session_.generation); }
    bool wanted() noexcept {
        note_calls();
        return wish_.wanted;
    }
    /// Whether it is not wanted any more, but may still exist.
    bool ending() noexcept { return !wanted() && running_; }
    /// Why it is not wanted any more, if the server has refused it since the last `keep`.
    const error_code& refusal() const noexcept { return wish_.refusal; }
    const std::string& data() const noexcept { return wish_.data; }

private:
    friend class kept_paths;
    enum class purpose : std::uint8_t { keep, change, release };
    struct call {
        call(kept_node& owner,
             purpose why_,
             std::uint64_t revision_,
             handler h,
             time_limit limit = time_limit::for_ever())
            : why(why_), revision(revision_), ask(owner, std::move(h), owner.wake_, limit) {}
        purpose why;
        std::uint64_t revision;
        waiting_call<> ask;
    };

    static task<> run(std::shared_ptr<kept_node> self);
    void change_for(purpose why, std::string data, handler h, time_limit limit);
    void start();
    bool keeping() const noexcept;
    bool releasing() const noexcept;
    bool waiting() const noexcept override;
    void session_changed(const session_status& status) noexcept override;
    void note_calls();
    void settle_calls(error_code ec);
    void refused(error_code ec, purpose why = purpose::keep);
    void report_unseen(error_code ec, const char* intent);
    void appeared() noexcept;
    void data_refused(error_code ec, std::uint64_t revision);
    bool ours(const stat& record) const noexcept;
    bool known(const operation& read) const noexcept;
    bool seen() const noexcept;
    bool has_ttl() const noexcept { return kind_.mode == create_mode::persistent_with_ttl; }
    void touched(const operation& write);
    void seen_present(std::uint64_t generation);
    task<bool> pursue(std::uint64_t generation);
    task<bool> make(std::uint64_t generation);
    task<bool> look(std::uint64_t generation);
    task<bool> write(std::uint64_t generation);
    task<bool> dismantle(std::uint64_t generation);

    /// What its keeper wants.
    struct wish {
        bool wanted = false;
        bool wait_for_predecessor = true;
        error_code refusal;
        std::string data;
        std::uint64_t revision = 0;       ///< of the data
        std::uint64_t keep_revision = 0;  ///< of the last `keep`, while that is pending
    };

    /// What is known of the node at the server.
    struct knowledge {
        /// It is one of others again, and not to be taken for ours.
        void forget_found() noexcept {
            if (found)
                czxid = 0;
            found = false;
        }

        bool present = false;
        bool perhaps = false;                         ///< a create or delete without a response
        std::set<std::string, std::less<>> attempts;  ///< the data of such creates
        bool found = false;  ///< it is present, but neither created nor written by this object
        bool occupied = false;
        std::int64_t occupant = 0;  ///< czxid of the node of others that was seen last
        std::uint64_t seen_in =
            0;                   ///< the state of the session (its revision) in which it was seen
        std::int64_t czxid = 0;  ///< of the node that was created or adopted last
        std::int32_t version = 0;
        std::uint64_t written = 0;  ///< the revision of the data that the server has
        std::string data;           ///< last written or read: what the server has
    };

    /// The session in which it is kept.
    struct in_session {
        std::uint64_t generation = 0;
        std::int64_t id = 0;
        std::set<std::int64_t> earlier;  ///< others that the server may not have ended yet
    };

    const acl entries_;
    const kept_node_kind kind_;
    signal wake_;
    watch_signal watch_;
    alarm touch_;  ///< time to write a node with a TTL again
    std::list<call> calls_;
    signal* observer_ = nullptr;
    kept_hold hold_;
    wish wish_;
    knowledge node_;
    in_session session_;
    bool running_ = false;
    bool owed_ = false;  ///< the client was closed when it was not wanted any more
    bool registered_ = false;
};

}  // namespace corozk::detail
