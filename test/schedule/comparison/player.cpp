// SPDX-License-Identifier: Apache-2.0
#include "player.hpp"

#include "party.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>

namespace corozk::comparison {

namespace {

constexpr std::size_t sessions = 3;

/// Everything, or all but one right.
struct some_rights {
    explicit some_rights(std::int32_t perms) : item{perms, ZOO_OPEN_ACL_UNSAFE.data[0].id} {}
    ACL_vector list() { return {1, &item}; }
    ACL item;
};

class player {
public:
    player(const world& w, std::uint64_t seed)
        : world_(w), root_("/w" + std::to_string(seed)), random_(seed) {
        for (std::size_t i = 0; i < sessions; ++i)
            renew(i);
        // The beginning of our count of zxids.
        auto r = std::make_shared<reply>();
        zoo_acreate2_ttl(at(0),
                         root_.c_str(),
                         "",
                         0,
                         &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_PERSISTENT,
                         -1,
                         &on_created,
                         r.get());
        finish(r);
        first_zxid_ = r->stat.czxid;
        for (const char* path : {"/a", "/b", "/a/x"}) {
            auto made = std::make_shared<reply>();
            zoo_acreate2_ttl(at(0),
                             (root_ + path).c_str(),
                             "",
                             0,
                             &ZOO_OPEN_ACL_UNSAFE,
                             ZOO_PERSISTENT,
                             -1,
                             &on_created,
                             made.get());
            finish(made);
        }
    }

    std::vector<std::string> play(int steps) {
        for (int i = 0; i < steps; ++i) {
            line_ = std::to_string(i) + ":";
            std::size_t who = pick(sessions);
            step(who);
            settle();
            transcript_.push_back(line_);
        }
        // No session is left that would expire while the next player counts.
        for (std::size_t i = 0; i < sessions; ++i) {
            if (away_.contains(parties_[i].get()))
                come_back(i);
        }
        return std::move(transcript_);
    }

private:
    zhandle_t* at(std::size_t who) { return parties_[who]->handle(); }
    std::size_t pick(std::size_t count) { return random_() % count; }

    void renew(std::size_t who) {
        parties_[who].reset();
        parties_[who] = std::make_unique<party>(world_, who + 1 == sessions ? root_ : "");
        wait([&] { return parties_[who]->connected(); });
        session_numbers_[parties_[who]->session()] = static_cast<int>(session_numbers_.size()) + 1;
    }

    /// Until something holds; everybody goes on meanwhile.
    template <class Predicate>
    void wait(Predicate reached) {
        for (int i = 0; i < 20'000; ++i) {
            if (reached())
                return;
            std::vector<zhandle_t*> handles;
            for (const auto& p : parties_) {
                if (p && !away_.contains(p.get()) && !p->expired())
                    handles.push_back(p->handle());
            }
            if (killer_)
                handles.push_back(killer_->handle());
            world_.breathe(handles);
        }
        throw std::runtime_error("nothing happens any more after " + line_);
    }

    void finish(const std::shared_ptr<reply>& r) {
        wait([&] { return r->done; });
    }

    /// All have heard everything: an answer comes after the events that were there before it.
    void settle() {
        for (std::size_t i = 0; i < sessions; ++i) {
            if (away_.contains(parties_[i].get()))
                continue;
            auto r = std::make_shared<reply>();
            zoo_awexists(at(i), "/", nullptr, nullptr, &on_stat, r.get());
            finish(r);
            for (const std::string& event : parties_[i]->take_events())
                line_ += "\n    session " + std::to_string(i) + ": " + event;
        }
    }

    // ------------------------------------------------------------------------------------------
    // What is said

    std::string zxid(std::int64_t z) const {
        return z == 0 ? "-" : std::to_string(z - first_zxid_);
    }

    std::string text(const Stat& s) const {
        auto owner = session_numbers_.find(s.ephemeralOwner);
        return " {c" + zxid(s.czxid) + " m" + zxid(s.mzxid) + " p" + zxid(s.pzxid) + " v" +
               std::to_string(s.version) + "/" + std::to_string(s.cversion) + "/" +
               std::to_string(s.aversion) + " owner " +
               (s.ephemeralOwner == 0             ? "-"
                : owner == session_numbers_.end() ? "?"
                                                  : std::to_string(owner->second)) +
               " " + std::to_string(s.dataLength) + " bytes, " + std::to_string(s.numChildren) +
               " children}";
    }

    void say(const reply& r) {
        line_ += " -> " + std::to_string(r.rc) + " " + r.text;
        // A container's own owner is a mark of the server's.
        if (r.has_stat && r.rc == ZOK)
            line_ += text(r.stat);
    }

    // ------------------------------------------------------------------------------------------
    // What is done

    std::string any_path(std::size_t who) {
        static const std::array<const char*, 7> paths{
            "/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/z", "/c"};
        std::string path = paths[pick(paths.size())];
        return who + 1 == sessions ? path : root_ + path;
    }

    /// Most nodes are anybody's; each of the others lacks one right.
    some_rights any_rights() {
        const std::size_t missing = pick(25);
        const int perms = missing < 5 ? ZOO_PERM_ALL & ~(1 << missing) : ZOO_PERM_ALL;
        line_ += " (rights " + std::to_string(perms) + ")";
        return some_rights(perms);
    }

    int any_version() { return std::array<int, 5>{-1, -1, 0, 1, 2}[pick(5)]; }

    void step(std::size_t who) {
        party& p = *parties_[who];
        line_ += " session " + std::to_string(who);
        if (away_.contains(&p)) {
            // The others go on for a while, and then it comes back.
            if (pick(2) == 0)
                return come_back(who);
            line_ += " is away";
            return;
        }
        switch (pick(50)) {
            case 0: line_ += " is renewed"; return renew(who);
            case 1:
                line_ += " goes away";
                p.disconnect();
                away_.insert(&p);
                return;
            case 2: return kill(who);
            case 3:
            case 4:
            case 5:
            case 6:
            case 7: return transact(who);
            case 8:
            case 9:
            case 10: return forget(who);
            default: return operate(who);
        }
    }

    void come_back(std::size_t who) {
        party& p = *parties_[who];
        p.reconnect();
        away_.erase(&p);
        wait([&] { return p.connected() || p.expired(); });
        line_ += p.connected() ? " comes back" : " comes back too late";
        if (p.expired())
            renew(who);
    }

    /// Somebody with its password ends its session.
    void kill(std::size_t who) {
        line_ += " is killed";
        party& p = *parties_[who];
        p.disconnect();
        away_.insert(&p);
        clientid_t id = p.id();
        killer_ = std::make_unique<party>(world_, "", &id);
        wait([&] { return killer_->connected() || killer_->expired(); });
        killer_.reset();
    }

    void forget(std::size_t who) {
        std::string path = any_path(who);
        auto type = static_cast<ZooWatcherType>(1 + pick(3));
        line_ += " forgets watches of type " + std::to_string(type) + " on " + path;
        auto r = std::make_shared<reply>();
        int rc = zoo_aremove_all_watches(
            at(who),
            path.c_str(),
            type,
            0,
            reinterpret_cast<void_completion_t*>(reinterpret_cast<void*>(&on_void)),
            r.get());
        if (rc == ZOK)
            finish(r);
        else
            r->rc = rc;
        say(*r);
    }

    void transact(std::size_t who) {
        std::size_t count = 1 + pick(3);
        std::vector<zoo_op_t> ops(count);
        std::vector<zoo_op_result_t> results(count);
        std::vector<std::string> paths(count);
        std::vector<Stat> stats(count);
        std::vector<std::array<char, 64>> created(count);
        std::vector<some_rights> rights;
        std::vector<ACL_vector> lists(count);
        rights.reserve(count);
        line_ += " transacts";
        for (std::size_t i = 0; i < count; ++i) {
            std::memset(&ops[i], 0, sizeof ops[i]);
            std::memset(&results[i], 0, sizeof results[i]);
            created[i].fill('\0');
            paths[i] = any_path(who);
            const char* path = paths[i].c_str();
            switch (pick(4)) {
                case 0: {
                    int mode = static_cast<int>(pick(4));
                    line_ += " [create " + std::to_string(mode) + " " + path;
                    rights.push_back(any_rights());
                    lists[i] = rights.back().list();
                    line_ += "]";
                    zoo_create_op_init(&ops[i],
                                       path,
                                       "t",
                                       1,
                                       &lists[i],
                                       mode,
                                       created[i].data(),
                                       static_cast<int>(created[i].size()));
                    break;
                }
                case 1:
                    line_ += std::string(" [delete ") + path + "]";
                    zoo_delete_op_init(&ops[i], path, -1);
                    break;
                case 2:
                    line_ += std::string(" [set ") + path + "]";
                    zoo_set_op_init(&ops[i], path, "tt", 2, -1, &stats[i]);
                    break;
                default: {
                    int version = any_version();
                    line_ += std::string(" [check ") + path + " " + std::to_string(version) + "]";
                    zoo_check_op_init(&ops[i], path, version);
                    break;
                }
            }
        }
        auto r = std::make_shared<reply>();
        zoo_amulti(at(who), static_cast<int>(count), ops.data(), results.data(), &on_void, r.get());
        finish(r);
        say(*r);
        for (std::size_t i = 0; i < count; ++i) {
            line_ += " " + std::to_string(results[i].err);
            if (r->rc == ZOK && created[i][0] != '\0')
                line_ += std::string(" ") + created[i].data();
            if (r->rc == ZOK && stats[i].czxid != 0)
                line_ += text(stats[i]);
        }
    }

    void operate(std::size_t who) {
        std::string path = any_path(who);
        const char* p = path.c_str();
        zhandle_t* zh = at(who);
        auto r = std::make_shared<reply>();
        party& self = *parties_[who];
        watcher_fn watcher = pick(2) == 0 ? nullptr : &party::on_watch;
        std::string watching = watcher ? " with a watch" : "";
        int rc = ZOK;
        switch (pick(12)) {
            case 0:
            case 1:
            case 2:
            case 3: {
                int mode = static_cast<int>(pick(5));
                line_ += " creates " + path + " as " + std::to_string(mode);
                some_rights rights = any_rights();
                const ACL_vector list = rights.list();
                rc = zoo_acreate2_ttl(zh, p, "d", 1, &list, mode, -1, &on_created, r.get());
                break;
            }
            case 4: {
                int version = any_version();
                line_ += " deletes " + path + " at " + std::to_string(version);
                rc = zoo_adelete(zh, p, version, &on_void, r.get());
                break;
            }
            case 5: {
                int version = any_version();
                std::string data(pick(4), 'x');
                line_ += " sets " + path + " at " + std::to_string(version);
                rc = zoo_aset(
                    zh, p, data.c_str(), static_cast<int>(data.size()), version, &on_stat, r.get());
                break;
            }
            case 6:
            case 7:
                line_ += " gets " + path + watching;
                rc = zoo_awget(zh, p, watcher, &self, &on_data, r.get());
                break;
            case 8:
                line_ += " looks for " + path + watching;
                rc = zoo_awexists(zh, p, watcher, &self, &on_stat, r.get());
                break;
            case 9:
                line_ += " lists " + path + watching;
                rc = zoo_awget_children2(zh, p, watcher, &self, &on_children, r.get());
                break;
            case 10:
                line_ += " asks for the rights of " + path;
                rc = zoo_aget_acl(zh, p, &on_acl, r.get());
                break;
            default: {
                int version = any_version();
                line_ += " sets the rights of " + path + " at " + std::to_string(version);
                some_rights rights = any_rights();
                ACL_vector list = rights.list();
                rc = zoo_aset_acl(zh, p, version, &list, &on_void, r.get());
                break;
            }
        }
        if (rc == ZOK)
            finish(r);
        else
            r->rc = rc;
        say(*r);
    }

    static reply& of(const void* data) { return *static_cast<reply*>(const_cast<void*>(data)); }

    static void on_void(int rc, const void* data) {
        of(data).rc = rc;
        of(data).done = true;
    }
    static void on_stat(int rc, const Stat* s, const void* data) {
        if (s) {
            of(data).stat = *s;
            of(data).has_stat = true;
        }
        on_void(rc, data);
    }
    static void on_created(int rc, const char* path, const Stat* s, const void* data) {
        if (rc == ZOK && path)
            of(data).text = path;
        on_stat(rc, s, data);
    }
    static void on_data(int rc, const char* value, int size, const Stat* s, const void* data) {
        if (rc == ZOK && value && size > 0)
            of(data).text = "\"" + std::string(value, static_cast<std::size_t>(size)) + "\"";
        on_stat(rc, s, data);
    }
    static void on_children(int rc, const String_vector* names, const Stat* s, const void* data) {
        std::vector<std::string> sorted;
        for (std::int32_t i = 0; rc == ZOK && names && i < names->count; ++i)
            sorted.emplace_back(names->data[i]);
        std::sort(sorted.begin(), sorted.end());
        for (const std::string& name : sorted)
            of(data).text += name + " ";
        on_stat(rc, s, data);
    }
    static void on_acl(int rc, ACL_vector* list, Stat* s, const void* data) {
        for (std::int32_t i = 0; rc == ZOK && list && i < list->count; ++i) {
            of(data).text += std::string(list->data[i].id.scheme) + ":" + list->data[i].id.id +
                             " " + std::to_string(list->data[i].perms) + " ";
        }
        on_stat(rc, s, data);
    }

    world world_;
    std::string root_;  ///< the last session lives in there
    std::mt19937_64 random_;
    std::array<std::unique_ptr<party>, sessions> parties_;
    std::unique_ptr<party> killer_;
    std::set<const party*> away_;
    std::map<std::int64_t, int> session_numbers_;
    std::int64_t first_zxid_ = 0;
    std::string line_;
    std::vector<std::string> transcript_;
};

}  // namespace

std::vector<std::string> play(const world& w, std::uint64_t seed, int steps) {
    player p(w, seed);
    return p.play(steps);
}

}  // namespace corozk::comparison
