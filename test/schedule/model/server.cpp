// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

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

constexpr std::int64_t first_session = 0x100000000000;

std::int64_t password_of(std::int64_t session) {
    return session * 7919 + 17;
}

}  // namespace

server::server(std::size_t followers) : replicas_(followers + 1) {}

connection* server::find(int id) {
    auto it = connections_.find(id);
    return it == connections_.end() ? nullptr : &it->second;
}

connection& server::connect(std::size_t at, int id) {
    connection& c = connections_[id];
    c.id = id;
    c.at = at;
    return c;
}

void server::send(connection& c, request r) {
    c.requests.push_back(std::move(r));
}

void server::forget_watches(int connection_id) {
    for (replica& r : replicas_) {
        for (watch_list* list : {&r.data_watches, &r.child_watches}) {
            for (auto it = list->begin(); it != list->end();) {
                it->second.erase(connection_id);
                it = it->second.empty() ? list->erase(it) : std::next(it);
            }
        }
    }
}

void server::hang_up(connection& c, bool lingers) {
    forget_watches(c.id);
    auto s = sessions_.find(c.session);
    if (s != sessions_.end() && s->second.connection == c.id)
        s->second.connection = 0;
    if (!lingers || c.asked)
        c.requests.clear();
    c.answers.clear();
    c.client_gone = true;
    if (c.requests.empty())
        connections_.erase(c.id);
}

void server::close_from_here(connection& c) {
    forget_watches(c.id);
    auto s = sessions_.find(c.session);
    if (s != sessions_.end() && s->second.connection == c.id)
        s->second.connection = 0;
    c.requests.clear();
    c.server_gone = true;
    if (c.client_gone)
        connections_.erase(c.id);
}

/// What comes on a session's earlier connections is nothing any more once it has another one: the
/// same server closes them at the handshake, and for another one the leader refuses it ("session
/// moved").
void server::retire_connections_of(std::int64_t session, int successor) {
    std::vector<int> old;
    for (const auto& [id, c] : connections_) {
        if (c.session == session && id != successor)
            old.push_back(id);
    }
    for (int id : old)
        close_from_here(*find(id));
}

// ---------------------------------------------------------------------------------------------
// Sessions

void server::accept(connection& c) {
    c.asked = false;
    answer a;
    if (c.wanted != 0) {
        auto it = sessions_.find(c.wanted);
        if (it == sessions_.end() || it->second.password != c.password) {
            a.kind = packet::rejection;
            c.answers.push_back(std::move(a));
            close_from_here(c);
            return;
        }
        session_entry& s = it->second;
        retire_connections_of(s.id, c.id);
        s.connection = c.id;
        s.heard = time_;
        c.session = s.id;
        // A server that knows less than the client lets it go elsewhere; ours catches up instead.
        while (replicas_[c.at].applied < log_.size() &&
               log_[replicas_[c.at].applied].zxid <= c.seen) {
            follow(c.at);
        }
    } else {
        commit({});
        catch_up(c.at);
        session_entry s;
        s.id = first_session + c.id;
        s.password = password_of(s.id);
        s.timeout = c.timeout;
        s.connection = c.id;
        s.heard = time_;
        c.session = s.id;
        sessions_.emplace(s.id, s);
    }
    a.kind = packet::welcome;
    a.session = c.session;
    a.password = sessions_.at(c.session).password;
    a.timeout = sessions_.at(c.session).timeout;
    a.zxid = 0;
    c.answers.push_back(std::move(a));
}

void server::end_session(std::int64_t id) {
    auto it = sessions_.find(id);
    if (it == sessions_.end())
        return;
    int connection_id = it->second.connection;
    sessions_.erase(it);
    std::vector<change> changes;
    for (const auto& [path, n] : leader().nodes()) {
        if (n.owner != id)
            continue;
        touch_changed(path);
        touched_.touch(thing::children, parent_of(path), use::add);
        change c;
        c.what = change::type::erase;
        c.path = path;
        changes.push_back(std::move(c));
    }
    commit(std::move(changes));
    touched_.touch_client(client_of(static_cast<int>(id - first_session)));
    if (connection* c = find(connection_id))
        close_from_here(*c);
}

void server::expire_silent(std::int64_t now) {
    std::vector<std::int64_t> silent;
    for (const auto& [id, s] : sessions_) {
        // The server looks at intervals, never too early.
        if (now - s.heard > s.timeout + s.timeout / 10)
            silent.push_back(id);
    }
    for (std::int64_t id : silent)
        end_session(id);
}

bool server::has_silent_sessions() const {
    return std::any_of(
        sessions_.begin(), sessions_.end(), [](const auto& s) { return s.second.connection == 0; });
}

// ---------------------------------------------------------------------------------------------
// The log

std::uint64_t server::name_for(const std::vector<change>& changes) {
    hasher h;
    for (const change& c : changes) {
        h.add(c.what);
        h.add(c.path);
        h.add(c.owner);
        h.add(c.data);
    }
    if (!changes.empty())
        h.add(++made_[h.value()]);
    return h.value();
}

void server::touch_changed(const std::string& path) {
    touched_.touch(thing::node, path, use::write);
    if (ordered_.contains(path))
        touched_.touch(thing::note, "order", use::write);
}

void server::commit(std::vector<change> changes) {
    ++zxid_;
    if (servers() == 1) {
        names_.resize(static_cast<std::size_t>(zxid_) + 1);
        names_.back() = name_for(changes);
    }
    log_.push_back({zxid_, time_, std::move(changes)});
    catch_up(0);
}

void server::catch_up(std::size_t at) {
    while (replicas_[at].applied < log_.size())
        follow(at);
}

void server::follow(std::size_t at) {
    replica& r = replicas_[at];
    if (r.applied == log_.size())
        return;
    // Watches are told while their node is being changed: they see the log entry once only.
    const log_entry entry = log_[r.applied++];
    for (const change& c : entry.changes) {
        r.nodes.apply(entry, c);
        switch (c.what) {
            case change::type::create: {
                trigger(r, c.path, ZOO_CREATED_EVENT);
                std::set<int> told;
                trigger_children(r, parent_of(c.path), ZOO_CHILD_EVENT, told);
                break;
            }
            case change::type::erase: {
                std::set<int> told;
                trigger(r, c.path, ZOO_DELETED_EVENT, &told);
                trigger_children(r, c.path, ZOO_DELETED_EVENT, told);
                told.clear();
                trigger_children(r, parent_of(c.path), ZOO_CHILD_EVENT, told);
                break;
            }
            case change::type::set:
                trigger(r, c.path, ZOO_CHANGED_EVENT);
                break;
            case change::type::set_acl:
                break;
        }
    }
}

void server::tell(int connection_id, int event, const std::string& path) {
    connection* c = find(connection_id);
    if (!c || c->client_gone || c->server_gone)
        return;
    touched_.touch_client(client_of(connection_id));
    answer a;
    a.kind = packet::event;
    a.event = event;
    a.path = path;
    c->answers.push_back(std::move(a));
}

void server::trigger(replica& r, const std::string& path, int event, std::set<int>* told) {
    auto watching = r.data_watches.extract(path);
    if (watching.empty())
        return;
    for (int id : watching.mapped()) {
        tell(id, event, path);
        if (told)
            told->insert(id);
    }
}

void server::trigger_children(replica& r, const std::string& path, int event, std::set<int>& told) {
    auto watching = r.child_watches.extract(path);
    if (watching.empty())
        return;
    for (int id : watching.mapped()) {
        if (told.insert(id).second)
            tell(id, event, path);
    }
}

// ---------------------------------------------------------------------------------------------
// Requests

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
    switch (r.what) {
        case verb::create:
        case verb::erase:
        case verb::set:
        case verb::set_acl:
            write(c, r, a);
            break;
        case verb::multi:
            multi(c, r, a);
            break;
        case verb::close: {
            int id = c.id;
            end_session(c.session);
            if (connection* still = find(id))
                close_from_here(*still);
            return;
        }
        default:
            read(c, r, a);
            break;
    }
    if (c.client_gone) {
        if (c.requests.empty())
            connections_.erase(c.id);
        return;
    }
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
            return ZOK;
        }
        case verb::erase: {
            c.what = change::type::erase;
            const node* n = t.find(r.path);
            touched_.touch(thing::node, r.path, use::read);
            touched_.touch(thing::children, r.path, use::read);
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
            if (r.version != -1 && r.version != n->version)
                return ZBADVERSION;
            if (r.what == verb::set)
                touch_changed(r.path);
            return ZOK;
        }
        case verb::set_acl: {
            c.what = change::type::set_acl;
            const node* n = t.find(r.path);
            touch_changed(r.path);
            if (!n)
                return ZNONODE;
            return r.version != -1 && r.version != n->aversion ? ZBADVERSION : ZOK;
        }
        default:
            return ZUNIMPLEMENTED;
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
        case verb::sync:
            a.path = r.path;
            return;
        case verb::auth:
            return;
        case verb::set_watches:
            set_watches(c, r, a);
            return;
        case verb::remove_watches:
            a.rc = remove_watches(c, r);
            return;
        default:
            break;
    }
    if (r.what == verb::children && r.watch && !child_stats_)
        throw std::logic_error("children are watched: the scenario needs with_child_stats()");
    touched_.touch(thing::node, r.path, use::read);
    if (r.what == verb::children || child_stats_)
        touched_.touch(thing::children, r.path, use::read);
    a.rc = n ? ZOK : ZNONODE;
    if (n) {
        a.stat = stat_of(here.nodes, *n);
        if (r.what == verb::get)
            a.data = n->data;
        if (r.what == verb::children)
            a.names.assign(n->children.begin(), n->children.end());
        if (r.what == verb::get_acl)
            a.acl = n->acl;
    }
    if (!r.watch || c.client_gone)
        return;
    if (r.what == verb::children) {
        if (n)
            here.child_watches[r.path].insert(c.id);
    } else if (n || r.what == verb::exists) {
        here.data_watches[r.path].insert(c.id);
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
    return found ? ZOK : ZNOWATCHER;
}

void server::erase(const std::string& path) {
    if (!leader().find(path))
        return;
    touch_changed(path);
    touched_.touch(thing::children, path, use::read);
    touched_.touch(thing::children, parent_of(path), use::add);
    change c;
    c.what = change::type::erase;
    c.path = path;
    commit({c});
}

// ---------------------------------------------------------------------------------------------

std::size_t server::watches() const {
    std::size_t count = 0;
    for (const replica& r : replicas_) {
        for (const watch_list* list : {&r.data_watches, &r.child_watches}) {
            for (const auto& [path, ids] : *list)
                count += ids.size();
        }
    }
    return count;
}

std::string server::list_watches() const {
    std::string text;
    for (const replica& r : replicas_) {
        for (const watch_list* list : {&r.data_watches, &r.child_watches}) {
            for (const auto& [path, ids] : *list) {
                text += " " + path + (list == &r.data_watches ? " (data)" : " (children)");
            }
        }
    }
    return text;
}

std::vector<std::string> server::empty_containers() const {
    std::vector<std::string> found;
    for (const auto& [path, n] : leader().nodes()) {
        if (n.kind == node_kind::container && n.children.empty() && n.creates > 0)
            found.push_back(path);
    }
    return found;
}

void server::add_to(hasher& h) const {
    leader().add_to(h, names_, child_stats_);
    for (const replica& r : replicas_) {
        h.add(r.applied == log_.size());
        if (r.applied != log_.size())
            r.nodes.add_to(h, names_, child_stats_);
        for (const watch_list* list : {&r.data_watches, &r.child_watches}) {
            h.add(list->size());
            for (const auto& [path, ids] : *list) {
                h.add(path);
                for (int id : ids)
                    h.add(client_of(id));
            }
        }
    }
    // How often a client has connected does not matter; what it has gone through is its own affair.
    for (const auto& [id, c] : connections_) {
        h.add(client_of(id));
        h.add(c.session);
        h.add(c.asked);
        h.add(c.client_gone);
        h.add(c.server_gone);
        for (const request& r : c.requests)
            model::add(h, r);
        for (const answer& a : c.answers)
            model::add(h, a, names_);
    }
    for (const auto& [id, s] : sessions_) {
        h.add(id);
        h.add(s.connection == 0 ? -1 : client_of(s.connection));
    }
}

}  // namespace corozk::model
