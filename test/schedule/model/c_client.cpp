// SPDX-License-Identifier: Apache-2.0
// The functions of the ZooKeeper C client that the library calls, on the model: what is linked in
// place of libzookeeper_st. What they do is what the C client does, its order of calls included.
#include "network.hpp"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <set>
#include <string>
#include <sys/socket.h>
#include <utility>

using namespace corozk::model;

namespace {

// NOLINTNEXTLINE
ACL open_acl[] = {{0x1f, {const_cast<char*>("world"), const_cast<char*>("anyone")}}};

/// What is called when a request has been answered.
struct completion {
    int xid = 0;
    verb what = verb::exists;
    const void* data = nullptr;
    void_completion_t done = nullptr;
    stat_completion_t stat = nullptr;
    data_completion_t content = nullptr;
    strings_stat_completion_t names = nullptr;
    string_completion_t text = nullptr;
    string_stat_completion_t created = nullptr;
    acl_completion_t acl = nullptr;

    bool watch = false;
    std::string path;  ///< with the chroot
    int forgets = 0;   ///< the watches that are taken back
    std::vector<zoo_op_t> ops;
    zoo_op_result_t* results = nullptr;
};

[[noreturn]] void not_modelled(const char* what) {
    std::cerr << "the model of ZooKeeper does not do this: " << what << std::endl;
    std::abort();
}

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
struct ACL_vector ZOO_OPEN_ACL_UNSAFE = {1, open_acl};
}

struct _zhandle {
    watcher_fn watcher = nullptr;
    void* context = nullptr;
    std::string hosts;
    std::string chroot;
    int state = ZOO_NOTCONNECTED_STATE;
    clientid_t id{};
    int recv_timeout = 0;
    std::int64_t last_zxid = 0;
    std::int64_t last_heard = 0;
    endpoint* line = nullptr;
    int next_xid = 1;
    std::deque<completion> pending;
    std::set<std::string> node_watches;
    std::set<std::string> exists_watches;
    std::set<std::string> child_watches;
    bool gone = false;  ///< the network went before it

    std::string full(const char* path) const {
        if (chroot.empty())
            return path;
        return std::strcmp(path, "/") == 0 ? chroot : chroot + path;
    }
    std::string stripped(const std::string& path) const {
        if (chroot.empty() || !path.starts_with(chroot))
            return path;
        std::string rest = path.substr(chroot.size());
        return rest.empty() ? "/" : rest;
    }
};

namespace {

void session_event(zhandle_t* zh, int state) {
    zh->watcher(zh, ZOO_SESSION_EVENT, state, "", zh->context);
}

void fill_in(const zhandle_t* zh, const completion& c, const answer& a) {
    for (std::size_t i = 0; i < c.ops.size(); ++i) {
        const zoo_op_t& op = c.ops[i];
        zoo_op_result_t& r = c.results[i];
        if (i >= a.steps.size()) {
            r.err = a.rc;
            continue;
        }
        const step_result& s = a.steps[i];
        r.err = s.rc;
        if (a.rc != ZOK)
            continue;
        bool creates = op.type == ZOO_CREATE_OP || op.type == ZOO_CREATE_CONTAINER_OP;
        if (creates && op.create_op.buf && op.create_op.buflen > 0) {
            std::strncpy(op.create_op.buf,
                         zh->stripped(s.path).c_str(),
                         static_cast<std::size_t>(op.create_op.buflen) - 1);
        }
        if (op.type == ZOO_SETDATA_OP && op.set_op.stat)
            *op.set_op.stat = s.stat;
    }
}

/// Calls what waits for this answer.
void complete(zhandle_t* zh, const completion& c, const answer& a) {
    bool good = a.rc == ZOK;
    if (c.done) {
        if (c.what == verb::multi)
            fill_in(zh, c, a);
        c.done(a.rc, c.data);
    } else if (c.stat) {
        c.stat(a.rc, good ? &a.stat : nullptr, c.data);
    } else if (c.content) {
        c.content(a.rc,
                  good ? a.data.data() : nullptr,
                  good ? static_cast<int>(a.data.size()) : 0,
                  good ? &a.stat : nullptr,
                  c.data);
    } else if (c.names) {
        std::vector<char*> pointers;
        for (const std::string& name : a.names)
            pointers.push_back(const_cast<char*>(name.c_str()));
        String_vector names{static_cast<std::int32_t>(pointers.size()), pointers.data()};
        c.names(a.rc, good ? &names : nullptr, good ? &a.stat : nullptr, c.data);
    } else if (c.text) {
        c.text(a.rc, good ? a.path.c_str() : nullptr, c.data);
    } else if (c.created) {
        std::string path = zh->stripped(a.path);
        c.created(a.rc, good ? path.c_str() : nullptr, good ? &a.stat : nullptr, c.data);
    } else if (c.acl) {
        std::vector<ACL> entries;
        for (const acl_item& item : a.acl) {
            ACL one;
            one.perms = item.perms;
            one.id.scheme = const_cast<char*>(item.scheme.c_str());
            one.id.id = const_cast<char*>(item.id.c_str());
            entries.push_back(one);
        }
        ACL_vector list{static_cast<std::int32_t>(entries.size()), entries.data()};
        Stat s = a.stat;
        c.acl(a.rc, good ? &list : nullptr, good ? &s : nullptr, c.data);
    }
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

request& post(zhandle_t* zh, request r) {
    connection* c = network::current()->servers().find(zh->line->connection);
    if (!c) {
        // The server has hung up, and the client does not know yet: it goes nowhere.
        static request nowhere;
        nowhere = std::move(r);
        return nowhere;
    }
    network::current()->servers().send(*c, std::move(r));
    return c->requests.back();
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

int check(zhandle_t* zh, const char* path, int mode = 0) {
    if (!zh || !path || path[0] != '/')
        return ZBADARGUMENTS;
    std::string text = path;
    if (mode == ZOO_PERSISTENT_SEQUENTIAL || mode == ZOO_EPHEMERAL_SEQUENTIAL)
        text += "1";
    if (text.size() > 1 && text.back() == '/')
        return ZBADARGUMENTS;
    if (zh->state < 0)
        return ZINVALIDSTATE;
    if (zh->state != ZOO_CONNECTED_STATE)
        not_modelled("a request without a connection");
    return ZOK;
}

int start(zhandle_t* zh, request r, completion c) {
    r.xid = c.xid = zh->next_xid++;
    c.what = r.what;
    c.watch = r.watch;
    c.path = r.path;
    zh->pending.push_back(std::move(c));
    post(zh, std::move(r));
    return ZOK;
}

std::vector<acl_item> items_of(const ACL_vector* list) {
    std::vector<acl_item> items;
    for (std::int32_t i = 0; list && i < list->count; ++i) {
        items.push_back({list->data[i].perms, list->data[i].id.scheme, list->data[i].id.id});
    }
    return items;
}

std::string text_of_bytes(const char* value, int length) {
    return value && length > 0 ? std::string(value, static_cast<std::size_t>(length))
                               : std::string();
}

int read(zhandle_t* zh, verb what, const char* path, watcher_fn watcher, completion c) {
    if (int rc = check(zh, path))
        return rc;
    request r(what);
    r.path = zh->full(path);
    r.watch = watcher != nullptr;
    return start(zh, std::move(r), std::move(c));
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

// What the model does not speak, where the C client does.
#ifdef HAVE_OPENSSL_H
zhandle_t*
zookeeper_init_ssl(const char*, const char*, watcher_fn, int, const clientid_t*, void*, int) {
    errno = ENOTSUP;
    return nullptr;
}

void zoo_set_log_callback(zhandle_t*, log_callback_fn) {}
#endif
#ifdef HAVE_CYRUS_SASL_H
zhandle_t* zookeeper_init_sasl(const char*,
                               watcher_fn,
                               int,
                               const clientid_t*,
                               void*,
                               int,
                               log_callback_fn,
                               zoo_sasl_params_t*) {
    errno = ENOTSUP;
    return nullptr;
}
#endif

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
        endpoint& e = n->open(zh->hosts);
        zh->line = &e;
        connection& c = *n->servers().find(e.connection);
        c.wanted = zh->id.client_id;
        std::memcpy(&c.password, zh->id.passwd, sizeof c.password);
        c.seen = zh->last_zxid;
        c.timeout = zh->recv_timeout;
        zh->state = ZOO_ASSOCIATING_STATE;
        zh->last_heard = n->clock();
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
        case packet::event:
            on_event(zh, a);
            break;
        case packet::answer:
            on_answer(zh, a);
            break;
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

int zoo_acreate2_ttl(zhandle_t* zh,
                     const char* path,
                     const char* value,
                     int valuelen,
                     const struct ACL_vector* acl,
                     int mode,
                     int64_t,
                     string_stat_completion_t done,
                     const void* data) {
    if (int rc = check(zh, path, mode))
        return rc;
    request r(verb::create);
    r.path = zh->full(path);
    r.data = text_of_bytes(value, valuelen);
    r.acl = items_of(acl);
    r.mode = mode;
    completion c;
    c.created = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_adelete(zhandle_t* zh,
                const char* path,
                int version,
                void_completion_t done,
                const void* data) {
    if (int rc = check(zh, path))
        return rc;
    request r(verb::erase);
    r.path = zh->full(path);
    r.version = version;
    completion c;
    c.done = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_aset(zhandle_t* zh,
             const char* path,
             const char* buffer,
             int buflen,
             int version,
             stat_completion_t done,
             const void* data) {
    if (int rc = check(zh, path))
        return rc;
    request r(verb::set);
    r.path = zh->full(path);
    r.data = text_of_bytes(buffer, buflen);
    r.version = version;
    completion c;
    c.stat = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_awget(zhandle_t* zh,
              const char* path,
              watcher_fn watcher,
              void*,
              data_completion_t done,
              const void* data) {
    completion c;
    c.content = done;
    c.data = data;
    return read(zh, verb::get, path, watcher, std::move(c));
}

int zoo_awexists(zhandle_t* zh,
                 const char* path,
                 watcher_fn watcher,
                 void*,
                 stat_completion_t done,
                 const void* data) {
    completion c;
    c.stat = done;
    c.data = data;
    return read(zh, verb::exists, path, watcher, std::move(c));
}

int zoo_awget_children2(zhandle_t* zh,
                        const char* path,
                        watcher_fn watcher,
                        void*,
                        strings_stat_completion_t done,
                        const void* data) {
    completion c;
    c.names = done;
    c.data = data;
    return read(zh, verb::children, path, watcher, std::move(c));
}

int zoo_async(zhandle_t* zh, const char* path, string_completion_t done, const void* data) {
    completion c;
    c.text = done;
    c.data = data;
    return read(zh, verb::sync, path, nullptr, std::move(c));
}

int zoo_aget_acl(zhandle_t* zh, const char* path, acl_completion_t done, const void* data) {
    completion c;
    c.acl = done;
    c.data = data;
    return read(zh, verb::get_acl, path, nullptr, std::move(c));
}

int zoo_aset_acl(zhandle_t* zh,
                 const char* path,
                 int version,
                 struct ACL_vector* acl,
                 void_completion_t done,
                 const void* data) {
    if (int rc = check(zh, path))
        return rc;
    request r(verb::set_acl);
    r.path = zh->full(path);
    r.acl = items_of(acl);
    r.version = version;
    completion c;
    c.done = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_amulti(zhandle_t* zh,
               int count,
               const zoo_op_t* ops,
               zoo_op_result_t* results,
               void_completion_t done,
               const void* data) {
    if (int rc = check(zh, "/"))
        return rc;
    request r(verb::multi);
    completion c;
    for (int i = 0; i < count; ++i) {
        const zoo_op_t& op = ops[i];
        request step;
        switch (op.type) {
            case ZOO_CREATE_OP:
            case ZOO_CREATE_CONTAINER_OP:
                step.what = verb::create;
                step.path = zh->full(op.create_op.path);
                step.data = text_of_bytes(op.create_op.data, op.create_op.datalen);
                step.acl = items_of(op.create_op.acl);
                step.mode = op.create_op.flags;
                break;
            case ZOO_DELETE_OP:
                step.what = verb::erase;
                step.path = zh->full(op.delete_op.path);
                step.version = op.delete_op.version;
                break;
            case ZOO_SETDATA_OP:
                step.what = verb::set;
                step.path = zh->full(op.set_op.path);
                step.data = text_of_bytes(op.set_op.data, op.set_op.datalen);
                step.version = op.set_op.version;
                break;
            case ZOO_CHECK_OP:
                step.what = verb::check;
                step.path = zh->full(op.check_op.path);
                step.version = op.check_op.version;
                break;
            default:
                return ZUNIMPLEMENTED;
        }
        r.steps.push_back(std::move(step));
        c.ops.push_back(op);
    }
    c.results = results;
    c.done = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_add_auth(zhandle_t* zh,
                 const char*,
                 const char*,
                 int,
                 void_completion_t done,
                 const void* data) {
    completion c;
    c.done = done;
    c.data = data;
    return read(zh, verb::auth, "/", nullptr, std::move(c));
}

int zoo_awgetconfig(zhandle_t* zh,
                    watcher_fn watcher,
                    void*,
                    data_completion_t done,
                    const void* data) {
    completion c;
    c.content = done;
    c.data = data;
    if (int rc = check(zh, "/"))
        return rc;
    request r(verb::get);
    r.path = "/zookeeper/config";
    r.watch = watcher != nullptr;
    return start(zh, std::move(r), std::move(c));
}

int zoo_areconfig(zhandle_t*,
                  const char*,
                  const char*,
                  const char*,
                  int64_t,
                  data_completion_t,
                  const void*) {
    return ZUNIMPLEMENTED;
}

int zoo_aremove_all_watches(zhandle_t* zh,
                            const char* path,
                            ZooWatcherType wtype,
                            int local,
                            void_completion_t* done,
                            const void* data) {
    std::string full = zh->full(path);
    bool of_data = wtype != ZWATCHTYPE_CHILD;
    bool of_children = wtype != ZWATCHTYPE_DATA;
    bool known =
        (of_data && (zh->node_watches.contains(full) || zh->exists_watches.contains(full))) ||
        (of_children && zh->child_watches.contains(full));
    if (!known)
        return ZNOWATCHER;
    if (local) {
        if (of_data) {
            zh->node_watches.erase(full);
            zh->exists_watches.erase(full);
        }
        if (of_children)
            zh->child_watches.erase(full);
        return ZOK;
    }
    if (int rc = check(zh, path))
        return rc;
    request r(verb::remove_watches);
    r.path = full;
    r.watch_type = wtype;
    completion c;
    c.forgets = wtype;
    c.done = reinterpret_cast<void_completion_t>(reinterpret_cast<void*>(done));
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

void zoo_create_op_init(zoo_op_t* op,
                        const char* path,
                        const char* value,
                        int valuelen,
                        const struct ACL_vector* acl,
                        int mode,
                        char* path_buffer,
                        int path_buffer_len) {
    op->type = mode == ZOO_CONTAINER ? ZOO_CREATE_CONTAINER_OP : ZOO_CREATE_OP;
    op->create_op.path = path;
    op->create_op.data = value;
    op->create_op.datalen = valuelen;
    op->create_op.acl = acl;
    op->create_op.flags = mode;
    op->create_op.buf = path_buffer;
    op->create_op.buflen = path_buffer_len;
}

void zoo_delete_op_init(zoo_op_t* op, const char* path, int version) {
    op->type = ZOO_DELETE_OP;
    op->delete_op.path = path;
    op->delete_op.version = version;
}

void zoo_set_op_init(zoo_op_t* op,
                     const char* path,
                     const char* buffer,
                     int buflen,
                     int version,
                     struct Stat* stat) {
    op->type = ZOO_SETDATA_OP;
    op->set_op.path = path;
    op->set_op.data = buffer;
    op->set_op.datalen = buflen;
    op->set_op.version = version;
    op->set_op.stat = stat;
}

void zoo_check_op_init(zoo_op_t* op, const char* path, int version) {
    op->type = ZOO_CHECK_OP;
    op->check_op.path = path;
    op->check_op.version = version;
}

const char* zerror(int) {
    return "";
}
}
