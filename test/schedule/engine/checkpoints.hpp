// SPDX-License-Identifier: Apache-2.0
// Going back to an earlier moment of a schedule without playing it again: its memory is put back. All
// that a schedule has is memory: clocks, sockets and servers are this program's own.
#pragma once

#include <cstddef>
#include <memory>

namespace corozk::schedule {

/// Where memory comes from: a schedule's own, or the explorer's. What was
/// allocated at the one place may be freed at the other.
class memory_scope {
public:
    enum class owner : bool { explorer, schedule };
    explicit memory_scope(owner whose) noexcept;
    ~memory_scope();
    memory_scope(const memory_scope&) = delete;
    memory_scope& operator=(const memory_scope&) = delete;

private:
    owner before_;
};

/// A stack of moments. One at a time, in a program of one thread.
class checkpoints {
public:
    /// Sanitizers want to see each allocation by itself.
    static bool available() noexcept;

    /// Forgets all that was allocated for the last schedules.
    checkpoints();
    ~checkpoints();
    checkpoints(const checkpoints&) = delete;
    checkpoints& operator=(const checkpoints&) = delete;

    /// @return how many moments there are now
    std::size_t save();

    /// To the moment that was the `count`-th to be saved; it stays, those after it are forgotten.
    void go_back_to(std::size_t count);

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace corozk::schedule
