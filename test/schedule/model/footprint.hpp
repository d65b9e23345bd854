// SPDX-License-Identifier: Apache-2.0
// What a step has read and changed, and which clients it concerns: two steps that do not get in each
// other's way may change places, and nobody can tell.
#pragma once

#include "hash.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::model {

/// What there is to be touched.
enum class thing : std::uint8_t {
    node,      ///< at a path: whether it exists, what it holds
    children,  ///< of a path: their names
    sequence,  ///< of a path: the number that the next sequential child gets
    note,      ///< a scenario's
    owners,    ///< who believes to own something
};

/// Additions may change places with each other; with reading and writing they may not.
enum class use : std::uint8_t { read, add, write };

class footprint {
public:
    void touch(thing what, std::string_view which, use how) {
        hasher h;
        h.add(what);
        h.add(which);
        for (auto& [id, known] : things_) {
            if (id == h.value()) {
                if (known != how)
                    known = use::write;
                return;
            }
        }
        things_.emplace_back(h.value(), how);
    }

    /// A client hears something, or does.
    void touch_client(int client) { clients_ |= std::uint64_t{1} << (client & 63); }

    /// It may not change places with anything.
    void touch_everything() { everything_ = true; }

    void merge(const footprint& other) {
        for (const auto& [id, how] : other.things_)
            things_.emplace_back(id, how);
        clients_ |= other.clients_;
        everything_ = everything_ || other.everything_;
    }

    void clear() {
        things_.clear();
        clients_ = 0;
        everything_ = false;
    }

    bool conflicts_with(const footprint& other) const {
        if (everything_ || other.everything_ || (clients_ & other.clients_) != 0)
            return true;
        return std::any_of(things_.begin(), things_.end(), [&](const auto& mine) {
            return std::any_of(other.things_.begin(), other.things_.end(), [&](const auto& theirs) {
                if (mine.first != theirs.first)
                    return false;
                return mine.second != theirs.second || mine.second == use::write;
            });
        });
    }

private:
    std::vector<std::pair<std::uint64_t, use>> things_;
    std::uint64_t clients_ = 0;
    bool everything_ = false;
};

}  // namespace corozk::model
