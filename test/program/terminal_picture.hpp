// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::testing {

/// What a terminal shows of the bytes that it gets. It knows the few sequences that the program uses;
/// another one fails the test.
class terminal_picture {
public:
    void resize(std::size_t rows, std::size_t columns) {
        columns_ = columns;
        rows_.resize(rows);
        for (row& line : rows_)
            line.resize(columns, " ");
        row_ = std::min(row_, rows - 1);
        column_ = std::min(column_, columns);
    }

    void add(std::string_view bytes) {
        unread_ += bytes;
        while (!unread_.empty()) {
            std::size_t size = unread_[0] == '\033' ? sequence() : character();
            if (size == 0)
                return;  // the rest is still to come
            unread_.erase(0, size);
        }
    }

    std::string text() const {
        std::string result;
        for (const row& line : rows_) {
            std::string one;
            for (const std::string& cell : line)
                one += cell;
            one.erase(one.find_last_not_of(' ') + 1);
            result += one + "\n";
        }
        return result;
    }

    /// Whether these words are there, in this order.
    bool has(const std::vector<std::string>& words) const {
        std::string all = text();
        std::size_t at = 0;
        for (const std::string& word : words) {
            at = all.find(word, at);
            if (at == std::string::npos)
                return false;
            at += word.size();
        }
        return true;
    }

    bool on_other_screen() const { return other_screen_; }
    bool shows_cursor() const { return cursor_; }

    /// How many lines have left the picture at the top.
    int scrolled() const { return scrolled_; }

private:
    using row = std::vector<std::string>;

    static bool begins(unsigned char c) { return (c & 0xc0) != 0x80; }

    std::size_t character() {
        std::size_t size = 1;
        auto first = static_cast<unsigned char>(unread_[0]);
        std::size_t whole = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        while (size < unread_.size() && !begins(static_cast<unsigned char>(unread_[size])))
            ++size;
        if (size < whole && size == unread_.size())
            return 0;
        char c = unread_[0];
        if (c == '\r') {
            column_ = 0;
        } else if (c == '\n') {
            next_row();
        } else if (c == '\b') {
            column_ -= column_ > 0 ? 1 : 0;
        } else if (first >= 0x20) {
            if (column_ >= columns_) {
                column_ = 0;
                next_row();
            }
            rows_[row_][column_++] = unread_.substr(0, size);
        }
        return size;
    }

    void next_row() {
        if (row_ + 1 < rows_.size()) {
            ++row_;
            return;
        }
        rows_.erase(rows_.begin());
        rows_.emplace_back(columns_, " ");
        ++scrolled_;
    }

    std::size_t sequence() {
        auto end = unread_.find_first_of("HJKhl", 1);
        if (end == std::string::npos)
            return 0;
        std::string one = unread_.substr(1, end);
        if (one == "[H") {
            row_ = column_ = 0;
        } else if (one == "[K") {
            clear_line_end();
        } else if (one == "[J") {
            clear_line_end();
            for (std::size_t i = row_ + 1; i < rows_.size(); ++i)
                rows_[i].assign(columns_, " ");
        } else if (one == "[?1049h" || one == "[?1049l") {
            other_screen_ = one.back() == 'h';
            for (row& line : rows_)
                line.assign(columns_, " ");
            row_ = column_ = 0;
            scrolled_ = 0;
        } else if (one == "[?25h" || one == "[?25l") {
            cursor_ = one.back() == 'h';
        } else {
            FAIL("an unknown sequence: " << one);
        }
        return end + 1;
    }

    /// Behind the last column the cursor stands on the last character.
    void clear_line_end() {
        for (std::size_t i = std::min(column_, columns_ - 1); i < columns_; ++i)
            rows_[row_][i] = " ";
    }

    std::size_t columns_ = 80;
    std::vector<row> rows_ = std::vector<row>(24, row(80, " "));
    std::size_t row_ = 0;
    std::size_t column_ = 0;
    bool other_screen_ = false;
    bool cursor_ = true;
    int scrolled_ = 0;
    std::string unread_;
};

}  // namespace corozk::testing
