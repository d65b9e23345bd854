// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <algorithm>
#include <utility>

namespace corozk::model {

namespace {

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
        for (watch_list* list : {&r.data_watches, &r.child_watches, &r.recursive_watches}) {
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
        const node* before = r.nodes.find(c.path);
        const bool readable = allows(before ? before->acl : c.acl, ZOO_PERM_READ);
        r.nodes.apply(entry, c);
        std::set<int> told;
        switch (c.what) {
            case change::type::create:
                trigger(r.data_watches, c.path, ZOO_CREATED_EVENT, readable, told);
                trigger_above(r, c.path, ZOO_CREATED_EVENT, readable, told);
                trigger_parent(r, c.path);
                break;
            case change::type::erase:
                trigger(r.data_watches, c.path, ZOO_DELETED_EVENT, readable, told);
                trigger_above(r, c.path, ZOO_DELETED_EVENT, readable, told);
                trigger(r.child_watches, c.path, ZOO_DELETED_EVENT, readable, told);
                trigger_parent(r, c.path);
                break;
            case change::type::set:
                trigger(r.data_watches, c.path, ZOO_CHANGED_EVENT, readable, told);
                trigger_above(r, c.path, ZOO_CHANGED_EVENT, readable, told);
                break;
            case change::type::set_acl: break;
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

void server::trigger(
    watch_list& list, const std::string& path, int event, bool readable, std::set<int>& told) {
    auto watching = list.extract(path);
    if (watching.empty())
        return;
    // Who may not read a node is not told of it, and his watch is gone all the same.
    if (!readable) {
        refused_ = true;
        return;
    }
    for (int id : watching.mapped()) {
        if (told.insert(id).second)
            tell(id, event, path);
    }
}

void server::trigger_parent(replica& r, const std::string& path) {
    const std::string folder = parent_of(path);
    const bool readable = allows(r.nodes.find(folder)->acl, ZOO_PERM_READ);
    std::set<int> told;
    trigger(r.child_watches, folder, ZOO_CHILD_EVENT, readable, told);
}

/// The recursive watches on the node and those above it.
void server::trigger_above(
    const replica& r, const std::string& path, int event, bool readable, std::set<int>& told) {
    for (const auto& [top, ids] : r.recursive_watches) {
        bool below = path == top || top == "/" ||
                     (path.starts_with(top) && path.size() > top.size() && path[top.size()] == '/');
        if (!below)
            continue;
        refused_ = refused_ || !readable;
        for (int id : ids) {
            if (readable && told.insert(id).second)
                tell(id, event, path);
        }
    }
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
// What is

std::size_t server::watches() const {
    std::size_t count = 0;
    for (const replica& r : replicas_) {
        for (const watch_list* list : {&r.data_watches, &r.child_watches, &r.recursive_watches}) {
            for (const auto& [path, ids] : *list)
                count += ids.size();
        }
    }
    return count;
}

std::string server::list_watches() const {
    std::string text;
    for (const replica& r : replicas_) {
        for (const watch_list* list : {&r.data_watches, &r.child_watches, &r.recursive_watches}) {
            for (const auto& [path, ids] : *list) {
                text += " " + path;
                text += list == &r.data_watches    ? " (data)"
                        : list == &r.child_watches ? " (children)"
                                                   : " (recursive)";
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

/// What a server that lags has, and what will come to it.
void server::add_what_is_behind(hasher& h, const replica& r) const {
    r.nodes.add_to(h, names_, child_stats_);
    for (std::size_t i = r.applied; i < log_.size(); ++i)
        add(h, log_[i]);
}

void server::add_to(hasher& h) const {
    leader().add_to(h, names_, child_stats_);
    h.add(refused_);
    for (const replica& r : replicas_) {
        h.add(log_.size() - r.applied);
        if (r.applied != log_.size())
            add_what_is_behind(h, r);
        for (const watch_list* list : {&r.data_watches, &r.child_watches, &r.recursive_watches}) {
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
        if (servers() > 1) {
            h.add(c.at);
            h.add(c.seen);
        }
        for (const request& r : c.requests)
            add(h, r);
        for (const answer& a : c.answers)
            add(h, a, names_);
    }
    for (const auto& [id, s] : sessions_) {
        h.add(id);
        h.add(s.connection == 0 ? -1 : client_of(s.connection));
    }
}

}  // namespace corozk::model
