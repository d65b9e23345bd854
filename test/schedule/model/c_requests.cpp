// SPDX-License-Identifier: Apache-2.0
// What a client asks, and how it is told the answer.
#include "c_handle.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace corozk::model;

namespace {

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

}  // namespace

namespace corozk::model {

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

}  // namespace corozk::model

namespace {

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

}  // namespace

extern "C" {

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

int zoo_adelete(
    zhandle_t* zh, const char* path, int version, void_completion_t done, const void* data) {
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
            default: return ZUNIMPLEMENTED;
        }
        r.steps.push_back(std::move(step));
        c.ops.push_back(op);
    }
    c.results = results;
    c.done = done;
    c.data = data;
    return start(zh, std::move(r), std::move(c));
}

int zoo_add_auth(
    zhandle_t* zh, const char*, const char*, int, void_completion_t done, const void* data) {
    completion c;
    c.done = done;
    c.data = data;
    return read(zh, verb::auth, "/", nullptr, std::move(c));
}

int zoo_awgetconfig(
    zhandle_t* zh, watcher_fn watcher, void*, data_completion_t done, const void* data) {
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

int zoo_areconfig(
    zhandle_t*, const char*, const char*, const char*, int64_t, data_completion_t, const void*) {
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
}
