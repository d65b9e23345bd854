// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A local copy of nodes that users read without asking the server, and its part in this rule:
///
/// An operation that succeeds after a change by the same client completes when all copies that the
/// client keeps show that change.
///
/// The server sends the event of a change before the answer to it. So when the answer is here, a
/// copy that the change concerns knows that it is behind: it has been marked, or is reading. The
/// completions that follow wait for the round of reading that brings the change (`hold`); they go
/// at once where no copy is behind, and, as nobody knows when it will catch up, with the
/// connection.
class local_copy final : public copy_hook {
public:
    /// Of the nodes at most `depth` levels below `root`.
    local_copy(port& p, std::string root, std::size_t depth);

    /// Something is to be read again.
    void mark() noexcept { marked_ = true; }

    /// A change was made before the copy was begun.
    void owe() noexcept { next_.owes = true; }

    /// What was marked until now is being read.
    void begin_round();

    /// What has been read is shown.
    void end_round();

    /// It is not kept up to date any more.
    void retire() noexcept;

    void own_change(const operation& op) noexcept override;
    bool owes() const noexcept override { return current_.owes || next_.owes; }
    void hold(std::shared_ptr<void> held) override;

private:
    struct round {
        bool owes = false;  ///< it brings a change of this client's
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

    const std::string root_;
    const std::size_t depth_;
    bool marked_ = true;  ///< nothing has been read yet
    bool reading_ = false;
    round current_;
    round next_;
    connection_observer observer_;
};

/// A watch of what a copy shows: wakes who reads it.
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
