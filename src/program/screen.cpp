// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include "output.hpp"
#include "table.hpp"

#include <boost/asio/buffer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corozk::program {

namespace {

// The sequences of xterm, which all terminals of today know.
constexpr std::string_view other_screen = "\033[?1049h\033[?25l";  // and no cursor
constexpr std::string_view first_screen = "\033[?25h\033[?1049l";
constexpr std::string_view home = "\033[H";
constexpr std::string_view clear_line_end = "\033[K";
constexpr std::string_view clear_below = "\033[J";

winsize window_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        size.ws_row = 24;
        size.ws_col = 80;
    }
    return size;
}

bool in_foreground(int terminal) noexcept {
    const pid_t group = ::tcgetpgrp(terminal);
    return group < 0 || group == ::getpgrp();
}

/// The terminal itself: what is set on standard input's descriptor would be its other users' too.
int open_keys() {
    return ::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

bool screen::possible() {
    const char* kind = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && kind && *kind && std::string_view(kind) != "dumb";
}

screen::screen(const asio::any_io_executor& executor) : keys_(executor), changes_(executor) {
    if (int fd = open_keys(); fd >= 0)
        keys_.assign(fd);
    for (int number : {SIGWINCH, SIGCONT, SIGTSTP}) {
        struct sigaction action {};
        bool ignored = ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!ignored)
            changes_.add(number);
    }
    try {
        enter();
    } catch (...) {
        leave();
        throw;
    }
}

screen::~screen() {
    leave();
}

void screen::enter() {
    if (keys_.is_open() && !in_foreground(keys_.native_handle())) {
        if (ending_signal() == 0)
            ::raise(SIGTTOU);  // stops, as the change below would, but not again when it is to end
        if (ending_signal() != 0 || !in_foreground(keys_.native_handle()))
            return;
    }
    // Continued after SIGSTOP, which nothing announces, they are ours already.
    if (!entered_)
        has_modes_ = keys_.is_open() && ::tcgetattr(keys_.native_handle(), &before_) == 0;
    entered_ = true;
    if (has_modes_) {
        // Keys at once, and not shown; Ctrl-C and Ctrl-Z keep their meaning.
        termios modes = before_;
        modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(keys_.native_handle(), TCSANOW, &modes);
    }
    print_bytes(other_screen);
}

void screen::leave() noexcept {
    if (!std::exchange(entered_, false))
        return;
    print_bytes_at_once(first_screen);
    if (has_modes_ && in_foreground(keys_.native_handle()))
        ::tcsetattr(keys_.native_handle(), TCSANOW, &before_);
}

void screen::draw(const std::string& text) {
    text_ = text;
    if (!entered_)
        return;
    std::vector<std::string_view> lines;
    for (std::string_view rest = text_; !rest.empty();) {
        auto end = std::min(rest.find('\n'), rest.size());
        lines.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    winsize size = window_size();
    // The cursor stays in the last row.
    std::size_t room = size.ws_row > 1 ? size.ws_row - 1U : 1U;
    std::string more;
    if (lines.size() > room) {
        more = fmt::format("... {} more", lines.size() - room + 1);
        lines.resize(room);
        lines.back() = more;
    }
    std::string frame(home);
    for (std::string_view line : lines) {
        line = cut(line, size.ws_col);
        frame += line;
        // In the last column it would clear the last character.
        if (width_of(line) < size.ws_col)
            frame += clear_line_end;
        frame += '\n';
    }
    frame += clear_below;
    print_bytes(frame);
}

asio::awaitable<void> screen::quit() {
    char key = 0;
    while (keys_.is_open() && key != 'q' && key != 'Q') {
        auto [closed] =
            co_await keys_.async_wait(asio::posix::descriptor_base::wait_read, as_tuple);
        if (closed)
            break;
        // Reading in the background stops a process, even one that is asked to end.
        if (!in_foreground(keys_.native_handle())) {
            co_await pause_for(std::chrono::milliseconds(100));
            continue;
        }
        auto [ec, size] = co_await keys_.async_read_some(asio::buffer(&key, 1), as_tuple);
        if (ec)
            break;
    }
    if (key != 'q' && key != 'Q')
        co_await pause_until(time_point::max());
}

asio::awaitable<void> screen::follow_window() {
    for (;;) {
        auto [ec, number] = co_await changes_.async_wait(as_tuple);
        if (ec)
            co_return;
        if (number == SIGTSTP) {
            leave();
            ::raise(SIGSTOP);
            continue;  // to SIGCONT
        }
        if (number == SIGCONT)
            enter();
        draw(std::string(text_));
    }
}

}  // namespace corozk::program
