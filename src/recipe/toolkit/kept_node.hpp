// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/recipe_core.hpp"

#include <list>
#include <memory>
#include <set>
#include <string>

namespace corozk::detail {

class kept_paths;

/// An ephemeral node that is kept at a path for as long as it is wanted: made again after its
/// session was lost or somebody erased it, rewritten when its data is to be another. The one behind
/// group membership, rendezvous and names that are bound to a session.
///
/// What is wanted is a state, and one driver brings the server there; so a `release` in the middle
/// of a re-creation, or a change of data in an outage, cannot be overtaken.
///
/// A node of that name that belongs to another session is waited for: it is our predecessor's (or
/// our own of an earlier session, which a client may have given up before the server does), and goes
/// with it. Within a client a path is kept once only, so
/// that a node of our session under that name is ours; a second object waits for the first like for
/// a stranger.
class kept_node final : public recipe_core, public std::enable_shared_from_this<kept_node> {
public:
    using handler = any_handler<void(error_code)>;

    kept_node(port& p, std::string path, acl entries);
    ~kept_node();

    /// Makes the node; completes when it is there. `errc::busy` if it is kept already, or being
    /// released; `errc::already_exists` if another object of this client keeps it, or, unless
    /// `wait_for_predecessor`, if it is another session's and that was not ours.
    void keep(std::string data, bool wait_for_predecessor, handler h, time_point deadline);

    /// Replaces its data; completes when the server has it.
    void change(std::string data, handler h);

    /// Erases it; completes when it is gone, with its session at the latest.
    void release(handler h);

    /// Its owner goes: the calls end, and the node is erased in the background.
    void abandon();

    bool present() const noexcept { return present_ && get_port().alive(generation_); }
    bool wanted() noexcept {
        note_calls();
        return wanted_;
    }
    const std::string& path() const noexcept { return path_; }
    const std::string& data() const noexcept { return data_; }

private:
    friend class kept_paths;
    enum class purpose : std::uint8_t { keep, change, release };
    struct call {
        call(kept_node& owner,
             purpose why_,
             std::uint64_t revision_,
             handler h,
             time_point deadline)
            : why(why_), revision(revision_), ask(owner, std::move(h), owner.wake_, deadline) {}
        purpose why;
        std::uint64_t revision;
        waiting_call<> ask;
    };

    static task<> run(std::shared_ptr<kept_node> self);
    void start();
    void note_calls();
    void settle_calls(error_code ec);
    void refused(error_code ec);
    void data_refused(error_code ec, std::uint64_t revision);
    task<bool> work(std::uint64_t generation);
    task<bool> pursue(std::uint64_t generation);
    task<bool> make(std::uint64_t generation);
    task<bool> look(std::uint64_t generation);
    task<bool> write(std::uint64_t generation);
    task<bool> dismantle(std::uint64_t generation);

    const std::string path_;
    const acl entries_;
    signal wake_;
    watch_signal watch_;
    std::list<call> calls_;

    bool wanted_ = false;
    bool wait_for_predecessor_ = true;
    std::string data_;
    std::uint64_t revision_ = 0;       ///< of the wanted data
    std::uint64_t keep_revision_ = 0;  ///< of the `keep` that is under way or was the last

    bool present_ = false;
    bool perhaps_ = false;  ///< a create or erase without an answer
    bool occupied_ = false;
    std::uint64_t generation_ = 0;
    std::int64_t session_ = 0;            ///< its id
    std::set<std::int64_t> our_earlier_;  ///< sessions that the server may not have ended yet
    std::int32_t version_ = 0;
    std::uint64_t written_ = 0;  ///< the revision that the server has
    std::string written_data_;   ///< the last that it took, or was found with
    bool running_ = false;
    bool registered_ = false;
};

}  // namespace corozk::detail
