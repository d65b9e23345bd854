// SPDX-License-Identifier: Apache-2.0
// Whoever is granted something says so here, and it is seen that nobody else may still believe the
// same, and what the server's records say.
#pragma once

#include <corozk/recipe/ownership.hpp>
#include <corozk/testing/admin.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

class owner_registry {
public:
    /// Told of each thing that was looked at, and whether it is as it must be.
    using verifier = std::function<void(bool, std::string_view)>;

    /// @param folder as the server calls it
    /// @param root the clients' chroot, or nothing
    owner_registry(std::uint16_t server_port,
                   std::string folder,
                   verifier verify,
                   std::string root = std::string())
        : observer_(server_port),
          folder_(std::move(folder)),
          root_(std::move(root)),
          verify_(std::move(verify)) {}

    /// Owned from now on, until `leave` or until it is not valid any more.
    /// @param alone nobody else may own anything meanwhile
    /// @param in_line grants follow the order in which everybody asked
    void enter(const ownership& o,
               std::int64_t session_id,
               bool alone = true,
               bool in_line = true) {
        for (const auto& [other, other_alone] : inside_) {
            if ((alone || other_alone) && !expired_by_force)
                verify_(!other->valid(), "nobody else believes to own it");
        }
        inside_.emplace_back(&o, alone);
        ++grants_;
        // Valid after the server was asked: then the server must have known it then.
        auto owner = observer_.stat(root_ + o.path());
        std::vector<std::string> names = observer_.children(folder_);
        if (!o.valid())
            return;
        if (!expired_by_force)
            verify_(owner.has_value(), "the owner's node is there");
        if (!owner)
            return;
        verify_(owner->ephemeral_owner == session_id, "the owner's node is the session's");
        if (!alone)
            return;
        verify_(owner->czxid == o.fencing_token(), "the fencing token is the node's creation");
        verify_(o.fencing_token() > last_token_, "fencing tokens grow");
        last_token_ = o.fencing_token();
        if (!in_line)
            return;
        for (const std::string& name : names) {
            auto record = observer_.stat(folder_ + "/" + name);
            // No contender that is older (the folder's nodes are numbered in this order).
            if (record && record->ephemeral_owner != 0)
                verify_(record->czxid >= owner->czxid, "no contender is older than the owner");
        }
    }

    void leave(const ownership& o) {
        std::erase_if(inside_, [&o](const auto& entry) { return entry.first == &o; });
    }

    /// Nobody believes to own what the server says is gone.
    void compare() {
        for (const auto& [owned, alone] : inside_) {
            bool there = observer_.exists(root_ + owned->path());
            verify_(there || !owned->valid(), "nobody owns without a node");
        }
    }

    int grants() const { return grants_; }
    admin& observer() { return observer_; }

    /// The server ended a session before its time: its client cannot know before it is told.
    bool expired_by_force = false;

private:
    admin observer_;
    std::string folder_;
    std::string root_;
    verifier verify_;
    std::vector<std::pair<const ownership*, bool>> inside_;
    std::int64_t last_token_ = 0;
    int grants_ = 0;
};

}  // namespace corozk::testing
