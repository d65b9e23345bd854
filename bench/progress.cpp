// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include "output.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace corozk::bench {

namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(100);
constexpr auto plain_interval = std::chrono::seconds(5);

std::size_t terminal_width() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

}  // namespace

progress::progress(bool shown) : shown_(shown), terminal_(::isatty(STDERR_FILENO) == 1) {}

void progress::update(std::string_view what, std::size_t done, std::size_t total) {
    if (!shown_)
        return;
    auto now = std::chrono::steady_clock::now();
    bool fresh = what != what_;
    if (!fresh && now < next_)
        return;
    if (fresh)
        what_ = what;
    std::string text(what);
    if (total > 0) {
        text += fmt::format(": {} of {}",
                            count_text(static_cast<double>(done)),
                            count_text(static_cast<double>(total)));
    }
    if (terminal_) {
        next_ = now + terminal_interval;
        text.resize(std::min(text.size(), terminal_width() - 1));
        remark("\r\033[K" + text);
        dirty_ = true;
    } else {
        next_ = now + plain_interval;
        remark(text + '\n');
    }
}

void progress::note(std::string_view text) {
    clear();
    if (!shown_)
        return;
    remark(fmt::format("{}\n", text));
}

void progress::clear() {
    if (!dirty_)
        return;
    dirty_ = false;
    what_.clear();
    remark("\r\033[K");
}

}  // namespace corozk::bench
