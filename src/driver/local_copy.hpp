// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A local copy of nodes that users read without a request. It maintains read-your-writes:
///
/// A successful operation that changes something completes only when all local copies of its client
/// show every change that the client made before. Reads and `sync` of the client do not wait.
///
/// The server sends the watch event of a change before its response, so a copy that covers the
/// change is marked or reading when the response arrives. Subsequent completions are held until the
/// round of reads that shows the change ends. They are not held if no copy is behind, nor while the
/// client is disconnected, as that may take arbitrarily long.
class local_copy final : public copy_hook {
public:
    /// Covers `root` and the nodes up to `depth` levels below it.
    local_copy(port& p, std::string root, std::size_t depth);

    /// Something has to be read again.
    void mark() noexcept { marked_ = true; }

    bool marked() const noexcept { return marked_; }

    /// The client made a change before the copy existed.
    void owe() noexcept { next_.owes = true; }

    /// Everything marked so far is now being read.
    void begin_round();

    /// Everything read has become visible to the user.
    void end_round();

    /// The copy is no longer updated.
    void retire() noexcept;

    void own_change(const operation& op) noexcept override;
    bool owes() const noexcept override { return current_.owes || next_.owes; }
    void hold(std::shared_ptr<void> held) override;

private:
    struct round {
        bool owes = false;  ///< will show a change made by this client
        std::vector<std::shared_ptr<void>> held;
    };

    class connection_observer final : public session_observer {
    public:
        explicit connection_observer(local_copy& owner) noexcept : owner_(owner) {}

    private:
        void session_changed(const session_status& status) noexcept override;
        local_copy& owner_;
    };

    bool covers(std::string_view path) const noexcept;
    bool covers(std::string_view path, create_mode mode) const noexcept;
    void note(bool answered) noexcept;

    const std::string root_;  ///< absolute
    const std::size_t depth_;
    bool marked_ = true;
    bool reading_ = false;
    round current_;
    round next_;
    connection_observer observer_;
};

/// A watch on a node of a local copy: marks the copy and wakes its reader.
class copy_watch final : public watch_node {
public:
    copy_watch(local_copy& copy, signal& reader) noexcept : copy_(copy), reader_(reader) {}

private:
    void fired(watch_event_type) noexcept override { look_again(); }
    void dropped(const error_code&) noexcept override { look_again(); }
    void look_again() noexcept {
        copy_.mark();
        reader_.set();
    }

    local_copy& copy_;
    signal& reader_;
};

}  // namespace corozk::detail
