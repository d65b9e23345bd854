// SPDX-License-Identifier: Apache-2.0
#include "packet.hpp"

namespace corozk::model {

const char* name_of(verb v) {
    switch (v) {
        case verb::create: return "create";
        case verb::erase: return "erase";
        case verb::set: return "set";
        case verb::check: return "check";
        case verb::get: return "get";
        case verb::exists: return "exists";
        case verb::children: return "children";
        case verb::sync: return "sync";
        case verb::get_acl: return "get_acl";
        case verb::set_acl: return "set_acl";
        case verb::multi: return "multi";
        case verb::multi_read: return "multi_read";
        case verb::auth: return "auth";
        case verb::add_watch: return "add_watch";
        case verb::remove_watches: return "remove_watches";
        case verb::set_watches: return "set_watches";
        case verb::close: return "close";
    }
    return "?";
}

std::string text_of(const request& r) {
    std::string text = name_of(r.what);
    if (!r.path.empty())
        text += " " + r.path;
    if (r.watch)
        text += " +watch";
    if (r.what == verb::multi || r.what == verb::multi_read) {
        text += " {";
        for (const request& step : r.steps)
            text += (text.back() == '{' ? "" : "; ") + text_of(step);
        text += "}";
    }
    return text;
}

std::string text_of(const answer& a) {
    switch (a.kind) {
        case packet::welcome: return "session " + std::to_string(a.session & 0xffff);
        case packet::rejection: return "no session";
        case packet::event: return "event " + std::to_string(a.event) + " " + a.path;
        case packet::answer: break;
    }
    std::string text = "answer " + std::to_string(a.rc);
    if (!a.path.empty())
        text += " " + a.path;
    if (!a.names.empty()) {
        text += " [";
        for (const std::string& name : a.names)
            text += (text.back() == '[' ? "" : " ") + name;
        text += "]";
    }
    return text;
}

void add(hasher& h, const Stat& s, const change_names& names) {
    h.add(name_of(s.czxid, names));
    h.add(name_of(s.mzxid, names));
    h.add(name_of(s.pzxid, names));
    h.add(s.version);
    h.add(s.cversion);
    h.add(s.aversion);
    h.add(s.ephemeralOwner);
    h.add(s.numChildren);
}

void add(hasher& h, const request& r) {
    h.add(r.what);
    h.add(r.path);
    h.add(r.data);
    h.add(r.mode);
    h.add(r.version);
    h.add(r.watch);
    h.add(r.watch_type);
    h.add(r.steps.size());
    for (const request& step : r.steps)
        add(h, step);
    h.add(r.data_watches);
    h.add(r.exists_watches);
    h.add(r.child_watches);
}

void add(hasher& h, const answer& a, const change_names& names) {
    h.add(a.kind);
    h.add(a.rc);
    // Where servers lag: how far this one was.
    if (names.empty())
        h.add(a.zxid);
    h.add(a.event);
    h.add(a.path);
    h.add(a.data);
    add(h, a.stat, names);
    h.add(a.names);
    h.add(a.session);
    for (const step_result& step : a.steps) {
        h.add(step.rc);
        h.add(step.path);
        h.add(step.data);
        h.add(step.names);
        add(h, step.stat, names);
    }
}

}  // namespace corozk::model
