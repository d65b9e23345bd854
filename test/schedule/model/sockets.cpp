// SPDX-License-Identifier: Apache-2.0
// Sockets without a kernel: pairs that are in this process only, and Asio's epoll on them. What the
// library and the model of the C client call on a socket comes here (they are linked to this in place
// of libc), and costs nothing: a schedule makes hundreds of these calls. Descriptors of another
// kind go on to the kernel.
#include "sockets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

/// More than a process has of the kernel's.
constexpr int first_descriptor = 1 << 24;

struct end {
    std::uint64_t inode = 0;
    std::size_t unread = 0;  ///< bytes; what they are matters to nobody
    bool hung_up = false;    ///< by the other end
    std::weak_ptr<end> other;

    ~end();
    std::uint32_t ready() const {
        return EPOLLOUT | (unread > 0 ? EPOLLIN : 0U) |
               (hung_up ? EPOLLIN | EPOLLHUP | EPOLLRDHUP : 0U);
    }
};

/// What an epoll was told of a descriptor: edge-triggered, as Asio wants it.
struct interest {
    int descriptor = -1;
    std::shared_ptr<end> what;  ///< null: the kernel's, which is always ready (Asio's interrupter)
    epoll_event event{};
    bool news = false;
};

struct poller {
    std::vector<interest> interests;
};

/// By number; one of the two, or neither.
struct slot {
    std::shared_ptr<end> socket;
    std::unique_ptr<poller> poll;
    bool used() const { return socket || poll; }
};

/// As many as a schedule needs many times over.
std::array<slot, 64> slots;

slot* slot_of(int descriptor) {
    if (descriptor < first_descriptor)
        return nullptr;
    auto index = static_cast<std::size_t>(descriptor - first_descriptor);
    static slot none;
    return index < slots.size() ? &slots[index] : &none;
}

/// The lowest number that is free, as the kernel does.
int take_slot(slot s) {
    auto it = std::find_if(slots.begin(), slots.end(), [](const slot& one) { return !one.used(); });
    if (it == slots.end()) {
        errno = EMFILE;
        return -1;
    }
    *it = std::move(s);
    return first_descriptor + static_cast<int>(it - slots.begin());
}

void tell_pollers(const end& about) {
    for (slot& s : slots) {
        if (!s.poll)
            continue;
        for (interest& i : s.poll->interests)
            i.news = i.news || i.what.get() == &about;
    }
}

end::~end() {
    if (auto peer = other.lock()) {
        peer->hung_up = true;
        tell_pollers(*peer);
    }
}

int failed(int problem) {
    errno = problem;
    return -1;
}

/// @return whether it was known
bool forget(poller& p, int descriptor) {
    return std::erase_if(p.interests,
                         [&](const interest& i) { return i.descriptor == descriptor; }) > 0;
}

int collect(poller& p, epoll_event* events, int room) {
    int count = 0;
    for (interest& i : p.interests) {
        if (!i.news || count == room)
            continue;
        i.news = false;
        std::uint32_t ready = i.what ? i.what->ready() : EPOLLIN;
        ready &= i.event.events | EPOLLERR | EPOLLHUP;
        if (ready == 0)
            continue;
        events[count] = i.event;
        events[count].events = ready;
        ++count;
    }
    return count;
}

}  // namespace

namespace corozk::model {

void (*when_idle)(int for_ms) = nullptr;

}  // namespace corozk::model

extern "C" {

int socketpair(int, int, int, int descriptors[2]) noexcept {
    static std::uint64_t inodes = 0;
    auto one = std::make_shared<end>();
    auto two = std::make_shared<end>();
    one->inode = ++inodes;
    two->inode = ++inodes;
    one->other = two;
    two->other = one;
    slot first;
    first.socket = std::move(one);
    descriptors[0] = take_slot(std::move(first));
    slot second;
    second.socket = std::move(two);
    descriptors[1] = take_slot(std::move(second));
    return descriptors[0] < 0 || descriptors[1] < 0 ? -1 : 0;
}

int close(int descriptor) {
    slot* s = slot_of(descriptor);
    if (!s)
        return static_cast<int>(::syscall(SYS_close, descriptor));
    if (!s->used())
        return failed(EBADF);
    slot closed = std::exchange(*s, slot());
    if (closed.socket) {
        for (slot& other : slots) {
            if (other.poll)
                forget(*other.poll, descriptor);
        }
    }
    return 0;
}

ssize_t send(int descriptor, const void* bytes, std::size_t size, int flags) {
    slot* s = slot_of(descriptor);
    if (!s)
        return ::syscall(SYS_sendto, descriptor, bytes, size, flags, nullptr, 0);
    if (!s->socket)
        return failed(EBADF);
    auto peer = s->socket->other.lock();
    if (!peer)
        return failed(EPIPE);
    peer->unread += size;
    tell_pollers(*peer);
    return static_cast<ssize_t>(size);
}

ssize_t recv(int descriptor, void* bytes, std::size_t size, int flags) {
    slot* s = slot_of(descriptor);
    if (!s)
        return ::syscall(SYS_recvfrom, descriptor, bytes, size, flags, nullptr, nullptr);
    if (!s->socket)
        return failed(EBADF);
    end& e = *s->socket;
    std::size_t count = std::min(size, e.unread);
    if (count == 0 && !e.hung_up)
        return failed(EAGAIN);
    e.unread -= count;
    return static_cast<ssize_t>(count);
}

int fcntl(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long value = va_arg(rest, long);
    va_end(rest);
    slot* s = slot_of(descriptor);
    if (!s)
        return static_cast<int>(::syscall(SYS_fcntl, descriptor, command, value));
    if (!s->socket)
        return failed(EBADF);
    if (command != F_DUPFD_CLOEXEC && command != F_DUPFD)
        return 0;
    slot copy;
    copy.socket = s->socket;
    return take_slot(std::move(copy));
}

int fstat(int descriptor, struct stat* found) noexcept {
    slot* s = slot_of(descriptor);
    if (!s)
        return static_cast<int>(::syscall(SYS_fstat, descriptor, found));
    if (!s->socket)
        return failed(EBADF);
    *found = {};
    found->st_dev = static_cast<dev_t>(first_descriptor);
    found->st_ino = s->socket->inode;
    return 0;
}

int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) noexcept {
    if (slot_of(descriptor))
        return 0;
    return static_cast<int>(::syscall(SYS_setsockopt, descriptor, level, name, value, size));
}

int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) noexcept {
    if (slot_of(descriptor))
        return failed(ENOPROTOOPT);
    return static_cast<int>(::syscall(SYS_getsockopt, descriptor, level, name, value, size));
}

int ioctl(int descriptor, unsigned long request, ...) noexcept {
    va_list rest;
    va_start(rest, request);
    void* value = va_arg(rest, void*);
    va_end(rest);
    if (slot_of(descriptor))
        return 0;
    return static_cast<int>(::syscall(SYS_ioctl, descriptor, request, value));
}

int epoll_create1(int) noexcept {
    slot s;
    s.poll = std::make_unique<poller>();
    return take_slot(std::move(s));
}

int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
    slot* s = slot_of(epoll);
    if (!s || !s->poll)
        return failed(EBADF);
    poller& p = *s->poll;
    if (operation == EPOLL_CTL_DEL)
        return forget(p, descriptor) ? 0 : failed(ENOENT);
    slot* about = slot_of(descriptor);
    if (about && !about->socket)
        return failed(EBADF);
    auto it = std::find_if(p.interests.begin(), p.interests.end(), [&](const interest& i) {
        return i.descriptor == descriptor;
    });
    if (it == p.interests.end()) {
        it = p.interests.emplace(it);
        it->descriptor = descriptor;
        if (about)
            it->what = about->socket;
    }
    it->event = *event;
    it->news = true;
    return 0;
}

int epoll_wait(int epoll, epoll_event* events, int room, int timeout) {
    slot* s = slot_of(epoll);
    if (!s || !s->poll)
        return failed(EBADF);
    int count = collect(*s->poll, events, room);
    if (count == 0 && timeout != 0 && corozk::model::when_idle)
        corozk::model::when_idle(timeout);
    return count;
}
}
