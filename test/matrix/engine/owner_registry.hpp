// SPDX-License-Identifier: Apache-2.0
// Owners are entered here at the moment of the grant; checks that nobody
// else may still believe the same, and what the server's records say.
#pragma once

#include "recipe/contention/owned.hpp"
#include <corozk/ownership.hpp>
#include <corozk/testing/admin.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

/// What somebody owns, and what he takes of it.
struct share {
    bool alone = true;    ///< nobody else may own anything meanwhile
    bool in_line = true;  ///< grants follow the order in which everybody asked
    int weight = 1;       ///< of those who are not alone: of the registry's limit
};

class owner_registry {
public:
    /// Called with each thing that was checked, and whether it holds.
    using verifier = std::function<void(bool, std::string_view)>;

    /// Somebody who believes to own something, as long as `valid` says so.
    struct owner {
        std::function<bool()> valid;
        std::function<std::string()> path;  ///< as clients call it; it may change
        std::int64_t fencing_token = 0;
        std::int64_t session_id = 0;
        share what{};
        /// The object that has it: two of them must not share a node.
        std::weak_ptr<const void> object{};
    };

    /// @param folder the parent node, as the server names it
    /// @param root the clients' chroot, or nothing
    owner_registry(std::uint16_t server_port,
                   std::string folder,
                   verifier verify,
                   std::string root = std::string())
        : observer_(server_port),
          folder_(std::move(folder)),
          root_(std::move(root)),
          verify_(std::move(verify)) {}

    /// Owned from now on, until it is released, dropped or lost.
    void enter(const ownership& o, std::int64_t session_id, share what = {}) {
        std::weak_ptr<corozk::detail::owned> impl = o.implementation();
        auto valid = [impl] {
            auto there = impl.lock();
            return there && there->valid();
        };
        auto path = [impl] {
            auto there = impl.lock();
            return there ? there->path() : std::string();
        };
        enter({valid, path, o.fencing_token(), session_id, what, impl});
    }

    void enter(owner next) {
        std::erase_if(owners_, [](const owner& o) { return !o.valid(); });
        if (is_known(next) || !next.valid())
            return;
        int taken = next.what.weight;
        for (const owner& other : owners_) {
            if (may_be_deaf(other) || may_be_deaf(next))
                continue;
            bool exclusive = next.what.alone || other.what.alone;
            verify_(!exclusive || !other.valid(), "nobody else believes to own it");
            taken += other.what.alone ? 0 : other.what.weight;
        }
        if (limit && !next.what.alone)
            verify_(taken <= *limit, "no more is granted than there is");
        ++grants_;
        see_records_of(next);
        owners_.push_back(std::move(next));
    }

    /// Nobody believes to own what the server says is gone.
    void compare() {
        for (const owner& o : owners_) {
            bool there = o.valid() && observer_.exists(root_ + o.path());
            verify_(there || !o.valid(), "nobody owns without a node");
        }
    }

    /// Another client has deleted the nodes of this session, or all nodes: owners notice it later.
    void erased_by_others(std::optional<std::int64_t> session_id = std::nullopt) {
        std::erase_if(owners_,
                      [&](const owner& o) { return !session_id || o.session_id == *session_id; });
    }

    int grants() const { return grants_; }
    admin& observer() { return observer_; }

    /// How much there is of what nobody has alone.
    std::optional<int> limit;

    /// The server ended this session before its time: its client cannot know yet.
    /// 0: none. Set by the code that ends it, on any thread.
    std::atomic<std::int64_t> ended_session{0};

private:
    bool is_known(const owner& next) const {
        return std::any_of(owners_.begin(), owners_.end(), [&next](const owner& o) {
            bool same_object =
                !o.object.owner_before(next.object) && !next.object.owner_before(o.object);
            return same_object && o.session_id == next.session_id &&
                   o.fencing_token == next.fencing_token;
        });
    }

    bool may_be_deaf(const owner& o) const {
        return o.session_id == ended_session && o.session_id != 0;
    }

    /// Valid after the server was asked: then the server must have known it then.
    void see_records_of(const owner& o) {
        auto node = observer_.stat(root_ + o.path());
        std::vector<std::string> names = observer_.children(folder_);
        if (!o.valid() || may_be_deaf(o))
            return;
        verify_(node.has_value(), "the owner's node is there");
        if (!node)
            return;
        verify_(node->ephemeral_owner == o.session_id, "the owner's node is the session's");
        if (!o.what.alone)
            return;
        verify_(node->czxid == o.fencing_token, "the fencing token is the node's creation");
        // The same where somebody has erased another node of its session meanwhile.
        verify_(o.fencing_token >= last_token_, "fencing tokens do not go back");
        last_token_ = o.fencing_token;
        if (!o.what.in_line)
            return;
        for (const std::string& name : names) {
            auto record = observer_.stat(folder_ + "/" + name);
            // No contender that is older (nodes are numbered in this order).
            if (record && record->ephemeral_owner != 0)
                verify_(record->czxid >= node->czxid, "no contender is older than the owner");
        }
    }

    admin observer_;
    std::string folder_;
    std::string root_;
    verifier verify_;
    std::vector<owner> owners_;
    std::int64_t last_token_ = 0;
    int grants_ = 0;
};

}  // namespace corozk::testing
