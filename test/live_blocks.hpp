// SPDX-License-Identifier: Apache-2.0
// How many blocks of memory a program has: for tests of what must not pile up, or of what happens
// where there are no more. Included by one file of a program, as it replaces the program's operators.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace corozk::testing {

inline std::atomic<std::int64_t> live_blocks{0};

/// How many were allocated, whether they are still there or not.
inline std::atomic<std::int64_t> allocated_blocks{0};

/// So many more are to be had before one is refused; negative: all are.
inline std::atomic<std::int64_t> blocks_until_refusal{-1};

}  // namespace corozk::testing

// Not inlined: g++ would see a malloc behind a delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    using corozk::testing::blocks_until_refusal;
    if (blocks_until_refusal >= 0 && blocks_until_refusal-- == 0)
        throw std::bad_alloc();
    void* block = std::malloc(size);
    if (!block)
        throw std::bad_alloc();
    ++corozk::testing::live_blocks;
    ++corozk::testing::allocated_blocks;
    return block;
}

// A sanitizer has one of its own, whose blocks are not for `free`.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* block = std::malloc(size);
    if (block) {
        ++corozk::testing::live_blocks;
        ++corozk::testing::allocated_blocks;
    }
    return block;
}

[[gnu::noinline]] void operator delete(void* block) noexcept {
    if (block)
        --corozk::testing::live_blocks;
    std::free(block);
}

[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    operator delete(block);
}
