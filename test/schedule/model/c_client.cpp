// SPDX-License-Identifier: Apache-2.0
// The functions of the ZooKeeper C client that the library calls, on the model: what is linked in
// place of libzookeeper_st. Here a client's connection, its events and its end; in c_requests.cpp
// requests, for the comparison only. What they do is what the C client does, its order of calls included.
#include "c_handle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <sys/socket.h>
#include <utility>

using namespace corozk::model;

namespace {

// NOLINTNEXTLINE
ACL open_acl[] = {{0x1f, {const_cast<char*>("world"), const_cast<char*>("anyone")}}};

}  // namespace

extern "C" {
const int ZOOKEEPER_WRITE = 1 << 0;
const int ZOOKEEPER_READ = 1 << 1;
const int ZOO_PERSISTENT = 0;
const int ZOO_EPHEMERAL = 1;
const int ZOO_PERSISTENT_SEQUENTIAL = 2;
const int ZOO_EPHEMERAL_SEQUENTIAL = 3;
const int ZOO_CONTAINER = 4;
const int ZOO_PERSISTENT_WITH_TTL = 5;
const int ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL = 6;
const int ZOO_CREATED_EVENT = 1;
const int ZOO_DELETED_EVENT = 2;
const int ZOO_CHANGED_EVENT = 3;
const int ZOO_CHILD_EVENT = 4;
const int ZOO_SESSION_EVENT = -1;
const int ZOO_NOTWATCHING_EVENT = -2;
const int ZOO_EXPIRED_SESSION_STATE = -112;
const int ZOO_AUTH_FAILED_STATE = -113;
const int ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2;
const int ZOO_CONNECTED_STATE = 3;
const int ZOO_READONLY_STATE = 5;
const int ZOO_NOTCONNECTED_STATE = 999;
const int ZOO_PERM_READ = 1 << 0;
const int ZOO_PERM_WRITE = 1 << 1;
const int ZOO_PERM_CREATE = 1 << 2;
const int ZOO_PERM_DELETE = 1 << 3;
const int ZOO_PERM_ADMIN = 1 << 4;
const int ZOO_PERM_ALL = 0x1f;
struct ACL_vector ZOO_OPEN_ACL_UNSAFE = {1, open_acl};
}

namespace corozk::model {

void not_modelled(const char* what) {
    std::cerr << "the model of ZooKeeper does not do this: " << what << std::endl;
    std::abort();
}

void post(zhandle_t* zh, request r) {
    server& there = network::current()->servers();
    // Where the server has hung up, and the client does not know yet, it goes nowhere.
    if (connection* c = there.find(zh->line->connection))
        there.send(*c, std::move(r));
}

}  // namespace corozk::model

namespace {

void session_event(zhandle_t* zh, int state) {
    zh->watcher(zh, ZOO_SESSION_EVENT, state, "", zh->context);
}

void fail_pending(zhandle_t* zh, int rc) {
    auto pending = std::move(zh->pending);
    zh->pending.clear();
    answer none;
    none.rc = rc;
    for (const completion& c : pending)
        complete(zh, c, none);
}

void hang_up(zhandle_t* zh) {
    if (!zh->line)
        return;
    endpoint& e = *std::exchange(zh->line, nullptr);
    if (network* n = network::current())
        n->close(e);
}

/// The connection has failed: tells everybody whom it concerns.
int connection_failed(zhandle_t* zh, int rc) {
    hang_up(zh);
    bool final = zh->state < 0;
    if (final) {
        session_event(zh, zh->state);
    } else if (zh->state == ZOO_CONNECTED_STATE) {
        session_event(zh, ZOO_CONNECTING_STATE);
    }
    if (!final)
        zh->state = ZOO_NOTCONNECTED_STATE;
    fail_pending(zh, rc);
    return rc;
}

void send_set_watches(zhandle_t* zh) {
    if (zh->node_watches.empty() && zh->exists_watches.empty() && zh->child_watches.empty())
        return;
    request r(verb::set_watches);
    r.xid = -8;
    r.seen = zh->last_zxid;
    r.data_watches.assign(zh->node_watches.begin(), zh->node_watches.end());
    r.exists_watches.assign(zh->exists_watches.begin(), zh->exists_watches.end());
    r.child_watches.assign(zh->child_watches.begin(), zh->child_watches.end());
    post(zh, std::move(r));
}

void on_event(zhandle_t* zh, const answer& a) {
    bool known = false;
    auto take = [&](std::set<std::string>& from) { known = from.erase(a.path) > 0 || known; };
    if (a.event == ZOO_CHILD_EVENT) {
        take(zh->child_watches);
    } else {
        take(zh->node_watches);
        take(zh->exists_watches);
        if (a.event == ZOO_DELETED_EVENT)
            take(zh->child_watches);
    }
    if (known)
        zh->watcher(zh, a.event, ZOO_CONNECTED_STATE, zh->stripped(a.path).c_str(), zh->context);
}

void on_answer(zhandle_t* zh, const answer& a) {
    if (a.zxid > 0)
        zh->last_zxid = a.zxid;
    if (a.xid == -8)
        return;
    if (zh->pending.empty() || zh->pending.front().xid != a.xid)
        not_modelled("an answer out of order");
    completion c = std::move(zh->pending.front());
    zh->pending.pop_front();
    if (c.watch) {
        if (a.rc == ZOK)
            (c.what == verb::children ? zh->child_watches : zh->node_watches).insert(c.path);
        else if (a.rc == ZNONODE && c.what == verb::exists)
            zh->exists_watches.insert(c.path);
    }
    if (c.forgets != 0 && a.rc == ZOK) {
        if (c.forgets != ZWATCHTYPE_CHILD) {
            zh->node_watches.erase(c.path);
            zh->exists_watches.erase(c.path);
        }
        if (c.forgets != ZWATCHTYPE_DATA)
            zh->child_watches.erase(c.path);
    }
    complete(zh, c, a);
}

}  // namespace

extern "C" {

zhandle_t* zookeeper_init2(const char* host,
                           watcher_fn fn,
                           int recv_timeout,
                           const clientid_t* clientid,
                           void* context,
                           int,
                           log_callback_fn) {
    auto* zh = new zhandle_t;
    zh->hosts = host;
    if (std::size_t slash = zh->hosts.find('/'); slash != std::string::npos) {
        zh->chroot = zh->hosts.substr(slash);
        zh->hosts.resize(slash);
    }
    zh->watcher = fn;
    zh->context = context;
    zh->recv_timeout = recv_timeout;
    if (clientid)
        zh->id = *clientid;
    return zh;
}

int zoo_set_servers_resolution_delay(zhandle_t*, int) {
    return ZOK;
}

void zoo_set_debug_level(ZooLogLevel) {}

void zoo_deterministic_conn_order(int) {}

int zoo_state(zhandle_t* zh) {
    return zh->state;
}

const clientid_t* zoo_client_id(zhandle_t* zh) {
    return &zh->id;
}

int zoo_recv_timeout(zhandle_t* zh) {
    return zh->recv_timeout;
}

int zoo_set_servers(zhandle_t* zh, const char* hosts) {
    zh->hosts = hosts;
    if (zh->line) {
        hang_up(zh);
        zh->state = ZOO_NOTCONNECTED_STATE;
    }
    return ZOK;
}

int zookeeper_interest(zhandle_t* zh, int* fd, int* interest, struct timeval* tv) {
    *fd = -1;
    *interest = 0;
    tv->tv_sec = 0;
    tv->tv_usec = 0;
    if (zh->state < 0)
        return ZINVALIDSTATE;
    network* n = network::current();
    if (!zh->line) {
        if (!n || zh->hosts.starts_with("255.255.255.255"))
            return connection_failed(zh, ZCONNECTIONLOSS);
        endpoint& e = n->open(n->next_address.empty() ? zh->hosts : n->next_address);
        zh->line = &e;
        connection& c = *n->servers().find(e.connection);
        c.wanted = zh->id.client_id;
        std::memcpy(&c.password, zh->id.passwd, sizeof c.password);
        c.seen = std::max(zh->last_zxid, n->next_seen);
        c.timeout = zh->recv_timeout;
        zh->state = n->refuses(e) ? ZOO_CONNECTING_STATE : ZOO_ASSOCIATING_STATE;
        zh->last_heard = n->clock();
    } else if (zh->line->refused) {
        return connection_failed(zh, ZCONNECTIONLOSS);
    }
    // A server that says nothing for two thirds of the timeout is given up.
    if (n->clock() - zh->last_heard >= zh->recv_timeout * 2 / 3)
        return connection_failed(zh, ZOPERATIONTIMEOUT);
    *fd = zh->line->descriptor;
    *interest = ZOOKEEPER_READ;
    return ZOK;
}

int zookeeper_process(zhandle_t* zh, int events) {
    if (!zh->line)
        return ZINVALIDSTATE;
    if ((events & ZOOKEEPER_READ) == 0)
        return ZNOTHING;
    char bytes[64];
    ssize_t n = ::recv(zh->line->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (zh->line->arrived.empty())
        return n == 0 ? connection_failed(zh, ZCONNECTIONLOSS) : ZNOTHING;
    zh->last_heard = network::current()->clock();
    answer a = std::move(zh->line->arrived.front());
    zh->line->arrived.pop_front();
    switch (a.kind) {
        case packet::rejection:
            zh->state = ZOO_EXPIRED_SESSION_STATE;
            return connection_failed(zh, ZSESSIONEXPIRED);
        case packet::welcome: {
            zh->state = ZOO_CONNECTED_STATE;
            zh->id.client_id = a.session;
            zh->recv_timeout = a.timeout;
            std::memcpy(zh->id.passwd, &a.password, sizeof a.password);
            send_set_watches(zh);
            session_event(zh, ZOO_CONNECTED_STATE);
            break;
        }
        case packet::event: on_event(zh, a); break;
        case packet::answer: on_answer(zh, a); break;
    }
    return ZOK;
}

int zookeeper_close(zhandle_t* zh) {
    if (zh->line && network::current()) {
        if (zh->state == ZOO_CONNECTED_STATE)
            network::current()->servers().end_session(zh->id.client_id);
        hang_up(zh);
    }
    fail_pending(zh, ZCLOSING);
    delete zh;
    return ZOK;
}

const char* zerror(int) {
    return "";
}
}
