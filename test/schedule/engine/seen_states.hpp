// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corozk::schedule {

/// By their hashes, the states that were seen, each with a set of moves: 16 bytes a state, as there
/// are hundreds of millions of them. Open addressing, in many tables that grow one after the other,
/// so that little is there twice; half to three quarters of the slots are taken.
class seen_states {
public:
    struct entry {
        std::uint64_t state = 0;  ///< 0: none
        std::uint64_t moves = 0;
    };

    /// @return the one with this hash, and whether it is new
    std::pair<entry*, bool> find_or_add(std::uint64_t state) {
        state += state == 0 ? 1 : 0;
        auto found = tables_[state >> (64 - table_bits)].find_or_add(state);
        count_ += found.second ? 1 : 0;
        return found;
    }

    std::size_t size() const { return count_; }

private:
    class table {
    public:
        std::pair<entry*, bool> find_or_add(std::uint64_t state) {
            if ((count_ + 1) * 4 > slots_.size() * 3)
                grow();
            entry& e = slot_of(state);
            bool fresh = e.state == 0;
            if (fresh) {
                e.state = state;
                ++count_;
            }
            return {&e, fresh};
        }

    private:
        entry& slot_of(std::uint64_t state) {
            std::size_t at = state & (slots_.size() - 1);
            while (slots_[at].state != 0 && slots_[at].state != state)
                at = (at + 1) & (slots_.size() - 1);
            return slots_[at];
        }

        void grow() {
            std::vector<entry> old(slots_.size() * 2);
            old.swap(slots_);
            for (const entry& e : old) {
                if (e.state != 0)
                    slot_of(e.state) = e;
            }
        }

        std::vector<entry> slots_ = std::vector<entry>(16);  ///< a power of two
        std::size_t count_ = 0;
    };

    static constexpr unsigned table_bits = 6;

    std::array<table, 1 << table_bits> tables_;
    std::size_t count_ = 0;
};

}  // namespace corozk::schedule
