// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "awaiting.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <string>
#include <termios.h>

namespace corozk::program {

/// A view that fills the terminal and is drawn again in place. The terminal is as before when this is
/// destroyed, and while the program is stopped (Ctrl-Z).
class screen {
public:
    /// Whether standard output is a terminal on which that is possible.
    static bool possible();

    explicit screen(const asio::any_io_executor& executor);
    ~screen();

    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    /// Draws these lines, as far as there is room. @throws as `print`
    void draw(const std::string& text);

    /// Waits until the key 'q' is typed.
    asio::awaitable<void> quit();

    /// Draws the last text again whenever the window's size has changed, or the program continues
    /// after a stop. Ends when it is cancelled.
    asio::awaitable<void> follow_window();

private:
    void enter();
    void leave() noexcept;

    asio::posix::stream_descriptor keys_;  ///< not open if there is no terminal to read from
    asio::signal_set changes_;
    termios before_{};
    bool has_modes_ = false;
    bool entered_ = false;
    std::string text_;
};

}  // namespace corozk::program
