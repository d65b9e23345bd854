// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "player.hpp"

#include <memory>
#include <set>
#include <string>

namespace corozk::comparison {

/// What an operation has brought.
struct reply {
    bool done = false;
    int rc = 0;
    bool has_stat = false;
    Stat stat{};
    std::string text;
};

/// One session.
class party {
public:
    party(const world& w, std::string chroot, const clientid_t* id = nullptr);
    ~party();
    party(const party&) = delete;
    party& operator=(const party&) = delete;

    zhandle_t* handle() { return zh_; }
    bool connected() { return zoo_state(zh_) == ZOO_CONNECTED_STATE; }
    bool expired() { return zoo_state(zh_) == ZOO_EXPIRED_SESSION_STATE; }
    std::int64_t session() { return zoo_client_id(zh_)->client_id; }
    clientid_t id() { return *zoo_client_id(zh_); }

    /// As the session core does it: without a word to the server.
    void disconnect();
    void reconnect();

    std::multiset<std::string> take_events();

    /// The same for all watches of a session, as the library has it; the context is the party.
    static void on_watch(zhandle_t*, int type, int state, const char* path, void* context);

private:
    const world& world_;
    zhandle_t* zh_;
    std::multiset<std::string> events_;
};

}  // namespace corozk::comparison
