// SPDX-License-Identifier: Apache-2.0
// What comes of a request.
#include "server.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corozk::model {

namespace {

bool is_sequential(int mode) {
    return mode == ZOO_PERSISTENT_SEQUENTIAL || mode == ZOO_EPHEMERAL_SEQUENTIAL ||
           mode == ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
}

bool is_ephemeral(int mode) {
    return mode == ZOO_EPHEMERAL || mode == ZOO_EPHEMERAL_SEQUENTIAL;
}

node_kind kind_of(int mode) {
    if (mode == ZOO_CONTAINER)
        return node_kind::container;
    if (mode == ZOO_PERSISTENT_WITH_TTL || mode == ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL)
        return node_kind::timed;
    return node_kind::plain;
}

/// In no order that means anything, as the real server lists them: whoever needs one must sort.
std::vector<std::string> listing_of(const node& n) {
    std::vector<std::pair<std::uint64_t, std::string>> hashed;
    for (const std::string& name : n.children) {
        hasher h;
        h.add(name);
        hashed.emplace_back(h.value(), name);
    }
    std::sort(hashed.rbegin(), hashed.rend());
    std::vector<std::string> names;
    for (auto& [hash, name] : hashed)
        names.push_back(std::move(name));
    return names;
}

}  // namespace

void server::execute(connection& c) {
    touched_.touch_client(client_of(c.id));
    if (servers() > 1)
        touched_.touch_everything();
    request r = std::move(c.requests.front());
    c.requests.pop_front();
    auto it = sessions_.find(c.session);
    if (it == sessions_.end()) {
        close_from_here(c);
        return;
    }
    it->second.heard = time_;
    answer a;
    a.xid = r.xid;
    a.what = r.what;
    const bool later = r.what == verb::multi_read || r.what == verb::add_watch;
    if (later && old_) {
        // Servers hang up behind this answer.
        a.rc = ZUNIMPLEMENTED;
        if (!c.client_gone)
            c.answers.push_back(std::move(a));
        close_from_here(c);
        return;
    }
    switch (r.what) {
        case verb::create:
        case verb::erase:
        case verb::set:
        case verb::set_acl: write(c, r, a); break;
        case verb::multi: multi(c, r, a); break;
        case verb::close: {
            int id = c.id;
            end_session(c.session);
            if (connection* still = find(id))
                close_from_here(*still);
            return;
        }
        default: read(c, r, a); break;
    }
    if (c.client_gone) {
        if (c.requests.empty())
            connections_.erase(c.id);
        return;
    }
    refused_ = refused_ || a.rc == ZNOAUTH;
    a.zxid = replicas_[c.at].applied == 0 ? 0 : log_[replicas_[c.at].applied - 1].zxid;
    c.answers.push_back(std::move(a));
}

int server::plan(const tree& t, const request& r, std::int64_t session, change& c) {
    c.path = r.path;
    c.data = r.data;
    c.acl = r.acl;
    switch (r.what) {
        case verb::create: {
            c.what = change::type::create;
            const std::string folder = parent_of(r.path);
            const node* parent = t.find(folder);
            touched_.touch(thing::node, folder, use::read);
            if (!parent)
                return ZNONODE;
            if (!allows(parent->acl, ZOO_PERM_CREATE))
                return ZNOAUTH;
            if (is_sequential(r.mode)) {
                touched_.touch(thing::sequence, folder, use::write);
                char digits[16];
                std::snprintf(digits, sizeof digits, "%010d", parent->creates);
                c.path += digits;
            }
            if (t.find(c.path)) {
                touched_.touch(thing::node, c.path, use::read);
                return ZNODEEXISTS;
            }
            touch_changed(c.path);
            if (parent->owner != 0)
                return ZNOCHILDRENFOREPHEMERALS;
            touched_.touch(thing::sequence, folder, use::add);
            touched_.touch(thing::children, folder, use::add);
            c.owner = is_ephemeral(r.mode) ? session : 0;
            c.kind = kind_of(r.mode);
            for (acl_item& item : c.acl)
                item.perms &= ~forbidden_;
            return ZOK;
        }
        case verb::erase: {
            c.what = change::type::erase;
            const node* parent = t.find(parent_of(r.path));
            const node* n = t.find(r.path);
            touched_.touch(thing::node, r.path, use::read);
            touched_.touch(thing::children, r.path, use::read);
            if (parent && !allows(parent->acl, ZOO_PERM_DELETE))
                return ZNOAUTH;
            if (!n)
                return ZNONODE;
            if (r.version != -1 && r.version != n->version)
                return ZBADVERSION;
            if (!n->children.empty())
                return ZNOTEMPTY;
            touch_changed(r.path);
            touched_.touch(thing::children, parent_of(r.path), use::add);
            return ZOK;
        }
        case verb::set:
        case verb::check: {
            c.what = change::type::set;
            const node* n = t.find(r.path);
            touched_.touch(thing::node, r.path, use::read);
            if (!n)
                return ZNONODE;
            if (!allows(n->acl, r.what == verb::set ? ZOO_PERM_WRITE : ZOO_PERM_READ))
                return ZNOAUTH;
            if (r.version != -1 && r.version != n->version)
                return ZBADVERSION;
            if (r.what == verb::set)
                touch_changed(r.path);
            return ZOK;
        }
        case verb::set_acl: {
            c.what = change::type::set_acl;
            const node* n = t.find(r.path);
            // What it allows is not among the things that other requests touch.
            touched_.touch_everything();
            if (!n)
                return ZNONODE;
            if (!allows(n->acl, ZOO_PERM_ADMIN))
                return ZNOAUTH;
            return r.version != -1 && r.version != n->aversion ? ZBADVERSION : ZOK;
        }
        default: return ZUNIMPLEMENTED;
    }
}

Stat server::stat_of(const tree& t, const node& n) const {
    Stat s = t.stat_of(n);
    if (!child_stats_)
        s.pzxid = s.cversion = s.numChildren = 0;
    return s;
}

void server::write(connection& c, const request& r, answer& a) {
    change step;
    a.rc = plan(leader(), r, c.session, step);
    std::vector<change> changes;
    if (a.rc == ZOK)
        changes.push_back(step);
    // One that fails has a place in the log, too.
    commit(std::move(changes));
    catch_up(c.at);
    if (a.rc != ZOK)
        return;
    if (r.what == verb::create)
        a.path = step.path;
    if (const node* n = leader().find(step.path))
        a.stat = stat_of(leader(), *n);
}

void server::multi(connection& c, const request& r, answer& a) {
    tree scratch = leader();
    std::vector<change> changes;
    log_entry entry;
    entry.zxid = zxid_ + 1;
    entry.time = time_;
    a.steps.resize(r.steps.size());
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
        change step;
        int rc = plan(scratch, r.steps[i], c.session, step);
        if (rc != ZOK) {
            a.rc = rc;
            a.steps[i].rc = rc;
            for (std::size_t k = 0; k < r.steps.size(); ++k) {
                if (k > i)
                    a.steps[k].rc = ZRUNTIMEINCONSISTENCY;
                a.steps[k].path.clear();
                a.steps[k].stat = Stat{};
            }
            commit({});
            catch_up(c.at);
            return;
        }
        if (r.steps[i].what == verb::check)
            continue;
        scratch.apply(entry, step);
        if (r.steps[i].what == verb::create)
            a.steps[i].path = step.path;
        if (const node* n = scratch.find(step.path))
            a.steps[i].stat = stat_of(scratch, *n);
        changes.push_back(std::move(step));
    }
    commit(std::move(changes));
    catch_up(c.at);
}

void server::read(connection& c, const request& r, answer& a) {
    if (r.what == verb::sync)
        catch_up(c.at);
    replica& here = replicas_[c.at];
    const node* n = here.nodes.find(r.path);
    switch (r.what) {
        case verb::sync: a.path = r.path; return;
        case verb::auth: return;
        case verb::multi_read: read_all(here, r, a); return;
        case verb::set_watches: set_watches(c, r, a); return;
        case verb::add_watch:
            touched_.touch_everything();  // whatever is below
            if (!c.client_gone)
                here.recursive_watches[r.path].insert(c.id);
            return;
        case verb::remove_watches: a.rc = remove_watches(c, r); return;
        default: break;
    }
    if (r.what == verb::children && r.watch && !child_stats_)
        throw std::logic_error("children are watched: the scenario needs with_child_stats()");
    a.rc = look_up(here.nodes, r, a.data, a.stat, a.names);
    if (a.rc == ZOK && r.what == verb::get_acl)
        a.acl = n->acl;
    if (!r.watch || c.client_gone || a.rc == ZNOAUTH)
        return;
    if (r.what == verb::children) {
        if (n)
            here.child_watches[r.path].insert(c.id);
    } else if (n || r.what == verb::exists) {
        here.data_watches[r.path].insert(c.id);
    }
}

int server::look_up(
    const tree& t, const request& r, std::string& data, Stat& stat, listing& children) {
    touched_.touch(thing::node, r.path, use::read);
    if (r.what == verb::children || child_stats_)
        touched_.touch(thing::children, r.path, use::read);
    const node* n = t.find(r.path);
    if (!n)
        return ZNONODE;
    // Before 3.9.3 anyone may know whether a node exists.
    const auto right = r.what == verb::get_acl ? ZOO_PERM_READ | ZOO_PERM_ADMIN : ZOO_PERM_READ;
    if ((r.what != verb::exists || hides_unreadable_) && !allows(n->acl, right))
        return ZNOAUTH;
    stat = stat_of(t, *n);
    if (r.what == verb::get)
        data = n->data;
    if (r.what == verb::children)
        children = listing_of(*n);
    return ZOK;
}

void server::read_all(const replica& here, const request& r, answer& a) {
    for (const request& one : r.steps) {
        step_result& s = a.steps.emplace_back();
        s.rc = look_up(here.nodes, one, s.data, s.stat, s.names);
        refused_ = refused_ || s.rc == ZNOAUTH;
    }
}

/// What has happened since the client heard the last is told now; the rest is watched again.
void server::set_watches(connection& c, const request& r, answer&) {
    if (c.client_gone)
        return;
    replica& here = replicas_[c.at];
    for (const auto* list : {&r.data_watches, &r.exists_watches, &r.child_watches}) {
        for (const std::string& path : *list) {
            touched_.touch(thing::node, path, use::read);
            touched_.touch(thing::children, path, use::read);
        }
    }
    for (const std::string& path : r.data_watches) {
        const node* n = here.nodes.find(path);
        if (!n)
            tell(c.id, ZOO_DELETED_EVENT, path);
        else if (n->mzxid > r.seen)
            tell(c.id, ZOO_CHANGED_EVENT, path);
        else
            here.data_watches[path].insert(c.id);
    }
    for (const std::string& path : r.exists_watches) {
        if (here.nodes.find(path))
            tell(c.id, ZOO_CREATED_EVENT, path);
        else
            here.data_watches[path].insert(c.id);
    }
    for (const std::string& path : r.child_watches) {
        const node* n = here.nodes.find(path);
        if (!n)
            tell(c.id, ZOO_DELETED_EVENT, path);
        else if (n->pzxid > r.seen)
            tell(c.id, ZOO_CHILD_EVENT, path);
        else
            here.child_watches[path].insert(c.id);
    }
}

int server::remove_watches(connection& c, const request& r) {
    replica& here = replicas_[c.at];
    auto take = [&](watch_list& list) {
        auto it = list.find(r.path);
        if (it == list.end() || it->second.erase(c.id) == 0)
            return false;
        if (it->second.empty())
            list.erase(it);
        return true;
    };
    bool found = false;
    if (r.watch_type != ZWATCHTYPE_CHILD)
        found = take(here.data_watches);
    if (r.watch_type != ZWATCHTYPE_DATA)
        found = take(here.child_watches) || found;
    if (r.watch_type == ZWATCHTYPE_ANY)
        found = take(here.recursive_watches) || found;
    return found ? ZOK : ZNOWATCHER;
}

}  // namespace corozk::model
