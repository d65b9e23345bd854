// SPDX-License-Identifier: Apache-2.0
#include "checkpoints.hpp"

#include "arena.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <vector>

// The program's variables, by the linker's names.
extern "C" {
extern char __data_start;  // NOLINT
extern char _edata;        // NOLINT
extern char __bss_start;   // NOLINT
extern char _end;          // NOLINT
}

namespace corozk::schedule {

namespace {

constexpr std::size_t block_size = 1024;
using block = std::array<char, block_size>;

/// Some memory, what it was at the last moment that was saved, and the way back from there.
class region {
public:
    region(char* begin, std::size_t capacity) : begin_(begin) {
        void* all = ::mmap(nullptr,
                           capacity,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1,
                           0);
        copy_ = all == MAP_FAILED ? nullptr : static_cast<char*>(all);
        capacity_ = capacity;
    }
    ~region() {
        if (copy_)
            ::munmap(copy_, capacity_);
    }
    region(const region&) = delete;
    region& operator=(const region&) = delete;

    /// @param size  how much of it is in use
    void save(std::size_t size) {
        marks_.push_back(undo_.size());
        for_each_difference(size, [this](std::size_t at, std::size_t length) {
            change& c = undo_.emplace_back();
            c.at = static_cast<std::uint32_t>(at / block_size);
            std::memcpy(c.was.data(), copy_ + at, length);
            std::memcpy(copy_ + at, begin_ + at, length);
        });
    }

    /// @param size  how much of it is in use now, which may be more than was then
    void go_back_to(std::size_t count, std::size_t size) {
        while (marks_.size() > count) {
            while (undo_.size() > marks_.back()) {
                const change& c = undo_.back();
                std::size_t at = std::size_t{c.at} * block_size;
                std::memcpy(copy_ + at, c.was.data(), std::min(block_size, capacity_ - at));
                undo_.pop_back();
            }
            marks_.pop_back();
        }
        for_each_difference(size, [this](std::size_t at, std::size_t length) {
            std::memcpy(begin_ + at, copy_ + at, length);
        });
    }

private:
    struct change {
        std::uint32_t at = 0;
        block was;  // written as a whole: it is not cleared before
    };

    template <class Function>
    void for_each_difference(std::size_t size, Function f) {
        for (std::size_t at = 0; at < size; at += block_size) {
            std::size_t length = std::min(block_size, size - at);
            if (std::memcmp(begin_ + at, copy_ + at, length) != 0)
                f(at, length);
        }
    }

    char* begin_;
    char* copy_ = nullptr;
    std::size_t capacity_ = 0;
    std::vector<change> undo_;
    std::vector<std::size_t> marks_;  ///< into undo_, by moments
};

}  // namespace

class checkpoints::impl {
public:
    impl()
        : heap_(arena::begin(), arena::capacity()),
          data_(&__data_start, static_cast<std::size_t>(&_edata - &__data_start)),
          bss_(&__bss_start, static_cast<std::size_t>(&_end - &__bss_start)) {}

    std::size_t save() {
        heap_.save(arena::size());
        data_.save(static_cast<std::size_t>(&_edata - &__data_start));
        bss_.save(static_cast<std::size_t>(&_end - &__bss_start));
        return ++count_;
    }

    void go_back_to(std::size_t count) {
        count_ = count;
        // What was taken since then may stay as it is: nobody refers to it.
        heap_.go_back_to(count, arena::size());
        data_.go_back_to(count, static_cast<std::size_t>(&_edata - &__data_start));
        bss_.go_back_to(count, static_cast<std::size_t>(&_end - &__bss_start));
    }

private:
    region heap_;
    region data_;
    region bss_;
    std::size_t count_ = 0;
};

memory_scope::memory_scope(owner whose) noexcept
    : before_(arena::in_use() ? owner::schedule : owner::explorer) {
    arena::in_use() = whose == owner::schedule && arena::available();
}

memory_scope::~memory_scope() {
    arena::in_use() = before_ == owner::schedule;
}

bool checkpoints::available() noexcept {
    return arena::available();
}

checkpoints::checkpoints() {
    arena::clear();
    impl_ = std::make_unique<impl>();
}

checkpoints::~checkpoints() = default;

std::size_t checkpoints::save() {
    memory_scope here(memory_scope::owner::explorer);
    return impl_->save();
}

void checkpoints::go_back_to(std::size_t count) {
    memory_scope here(memory_scope::owner::explorer);
    impl_->go_back_to(count);
}

}  // namespace corozk::schedule
