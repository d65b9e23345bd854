// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COROZK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COROZK_SANITIZED 1
#endif
#endif

namespace corozk::schedule {

namespace arena {

namespace {

constexpr std::size_t reserved = std::size_t{1} << 30;
constexpr std::size_t unit = 16;
constexpr std::size_t small_classes = 64;  // up to 1 KiB, in steps of a unit
constexpr std::size_t classes = small_classes + 24;

/// Before each piece.
struct alignas(unit) label {
    std::uint32_t size_class;
    std::uint32_t before;  ///< bytes from the start of the piece to here, for alignment
};
static_assert(sizeof(label) == unit);

struct free_piece {
    free_piece* next;
};

struct books {
    std::size_t used;
    free_piece* free[classes];
};

/// Not in .data or .bss, which are put back as well.
thread_local bool used_now = false;
thread_local char* base = nullptr;

books& kept() noexcept {
    return *reinterpret_cast<books*>(base);
}

constexpr std::size_t class_of(std::size_t size) noexcept {
    if (size <= small_classes * unit)
        return (std::max<std::size_t>(size, 1) - 1) / unit;
    return small_classes + std::bit_width(size - 1) - 11;
}

constexpr std::size_t size_of(std::size_t size_class) noexcept {
    if (size_class < small_classes)
        return (size_class + 1) * unit;
    return std::size_t{1} << (size_class - small_classes + 11);
}

}  // namespace

bool available() noexcept {
#ifdef COROZK_SANITIZED
    return false;
#else
    return true;
#endif
}

bool& in_use() noexcept {
    return used_now;
}

char* begin() noexcept {
    return base;
}

std::size_t size() noexcept {
    return kept().used;
}

std::size_t capacity() noexcept {
    return reserved;
}

void clear() noexcept {
    if (!base) {
        void* all = ::mmap(nullptr,
                           reserved,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1,
                           0);
        if (all == MAP_FAILED)
            std::abort();
        base = static_cast<char*>(all);
    }
    std::memset(base, 0, sizeof(books));
    kept().used = (sizeof(books) + unit - 1) / unit * unit;
}

namespace {

[[maybe_unused]] bool owns(const void* p) noexcept {
    auto* at = static_cast<const char*>(p);
    return base && at >= base && at < base + reserved;
}

[[maybe_unused]] void* take(std::size_t size, std::size_t alignment = unit) noexcept {
    std::size_t extra = alignment > unit ? alignment : 0;
    std::size_t size_class = class_of(size + sizeof(label) + extra);
    if (size_class >= classes)
        return nullptr;
    books& b = kept();
    char* piece;
    if (free_piece* first = b.free[size_class]) {
        b.free[size_class] = first->next;
        piece = reinterpret_cast<char*>(first);
    } else {
        if (b.used + size_of(size_class) > reserved)
            return nullptr;
        piece = base + b.used;
        b.used += size_of(size_class);
    }
    char* at = piece + sizeof(label);
    if (extra != 0) {
        auto number = reinterpret_cast<std::uintptr_t>(at);
        at += (alignment - number % alignment) % alignment;
    }
    auto* l = reinterpret_cast<label*>(at) - 1;
    l->size_class = static_cast<std::uint32_t>(size_class);
    l->before = static_cast<std::uint32_t>(reinterpret_cast<char*>(l) - piece);
    return at;
}

[[maybe_unused]] std::size_t room_of(const void* p) noexcept {
    const label& l = static_cast<const label*>(p)[-1];
    return size_of(l.size_class) - l.before - sizeof(label);
}

[[maybe_unused]] void give_back(void* p) noexcept {
    label& l = static_cast<label*>(p)[-1];
    std::size_t size_class = l.size_class;
    auto* piece = reinterpret_cast<free_piece*>(reinterpret_cast<char*>(&l) - l.before);
    piece->next = kept().free[size_class];
    kept().free[size_class] = piece;
}

}  // namespace

}  // namespace arena

}  // namespace corozk::schedule

#ifndef COROZK_SANITIZED

namespace arena = corozk::schedule::arena;

// In place of libc's, whose own are behind them.
extern "C" {

void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* p, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
void __libc_free(void* p) noexcept;

void* malloc(std::size_t size) noexcept {
    return arena::used_now ? arena::take(size) : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    if (!arena::used_now)
        return __libc_calloc(count, size);
    void* p = arena::take(count * size);
    return p ? std::memset(p, 0, count * size) : nullptr;
}

void free(void* p) noexcept {
    if (!arena::owns(p))
        __libc_free(p);
    else
        arena::give_back(p);
}

void* realloc(void* p, std::size_t size) noexcept {
    if (p && !arena::owns(p))
        return __libc_realloc(p, size);
    if (!p)
        return malloc(size);
    if (size <= arena::room_of(p))
        return p;
    void* larger = malloc(size);
    if (larger) {
        std::memcpy(larger, p, arena::room_of(p));
        arena::give_back(p);
    }
    return larger;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return arena::used_now ? arena::take(size, alignment) : __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return aligned_alloc(alignment, size);
}

/// What a schedule makes for as long as the program runs goes when its moment is put back, and is made
/// once more.
int __cxa_atexit(void (*f)(void*), void* argument, void* library) noexcept {
    using signature = int (*)(void (*)(void*), void*, void*);
    static const auto next = reinterpret_cast<signature>(::dlsym(RTLD_NEXT, "__cxa_atexit"));
    return arena::used_now ? 0 : next(f, argument, library);
}

int posix_memalign(void** p, std::size_t alignment, std::size_t size) noexcept {
    *p = aligned_alloc(alignment, size);
    return *p ? 0 : ENOMEM;
}
}

#endif
