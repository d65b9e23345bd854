// SPDX-License-Identifier: Apache-2.0
// A deterministic model of ZooKeeper: one log, servers that follow it, sessions, watches. Nothing
// happens by itself: somebody says what happens next.
#pragma once

#include "footprint.hpp"
#include "tree.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corozk::model {

/// One TCP connection, with what is on its way in both directions.
struct connection {
    int id = 0;
    std::size_t at = 0;  ///< which server
    std::int64_t session = 0;

    bool asked = true;          ///< for a session; not answered yet
    std::int64_t wanted = 0;    ///< which session; 0: a new one
    std::int64_t password = 0;  ///< of the session that it wants
    std::int64_t seen = 0;      ///< the latest zxid that the client knows of
    std::int32_t timeout = 0;   ///< ms
    bool client_gone = false;   ///< what is still to come from it may come all the same
    bool server_gone = false;   ///< nothing more comes from the server
    std::deque<request> requests;
    std::deque<answer> answers;
};

struct session_entry {
    std::int64_t id = 0;
    std::int64_t password = 0;
    std::int32_t timeout = 0;  ///< ms
    int connection = 0;        ///< 0: none
    std::int64_t heard = 0;    ///< when; ms
};

class server {
public:
    /// @param followers  servers besides the leader
    explicit server(std::size_t followers = 0);

    // What clients do.
    connection& connect(std::size_t at, int id);
    void send(connection& c, request r);

    /// The client has closed it. What it sent may still arrive (`execute`) if it lingers.
    void hang_up(connection& c, bool lingers = false);

    // What happens next.
    void accept(connection& c);
    void execute(connection& c);
    void follow(std::size_t at);
    void end_session(std::int64_t id);
    void erase(const std::string& path);

    /// Ends sessions that were not heard of for too long.
    void expire_silent(std::int64_t now);

    /// Whether there are sessions without a connection: they will end.
    bool has_silent_sessions() const;
    void set_time(std::int64_t ms) { time_ = ms; }

    /// Nodes that clients create give nobody these rights, whatever list they ask for.
    void forbid(std::int32_t rights) { forbidden_ = rights; }

    /// Whether a node exists is for those who may read it, as since ZooKeeper 3.9.3.
    void hide_unreadable() { hides_unreadable_ = true; }

    /// It knows nothing that the C client does not know, as before ZooKeeper 3.6.
    void be_old() { old_ = true; }

    /// Whether anything was refused, or withheld, for want of a right.
    bool has_refused() const { return refused_; }

    // What is.
    std::map<int, connection>& connections() { return connections_; }
    const std::map<int, connection>& connections() const { return connections_; }
    const std::map<std::int64_t, session_entry>& sessions() const { return sessions_; }
    connection* find(int id);
    bool lags(std::size_t at) const { return replicas_[at].applied < log_.size(); }
    std::size_t servers() const { return replicas_.size(); }
    const tree& leader() const { return replicas_[0].nodes; }

    /// Before anybody comes: what all servers have. `f(tree&)`
    template <class Function>
    void prepare(Function f) {
        for (replica& r : replicas_)
            f(r.nodes);
    }

    std::size_t watches() const;
    std::string list_watches() const;
    std::int64_t zxid() const { return zxid_; }
    void add_to(hasher& h) const;

    /// What zxids stand for. With one server nothing else about them matters; where servers lag, how
    /// far each of them is matters too, and the names are the numbers.
    const change_names& names() const { return names_; }

    /// What was touched since it was last taken; connections by their ids.
    footprint take_footprint() { return std::exchange(touched_, footprint()); }

    /// From now on stats say nothing of a node's children, and nobody may watch children.
    void hide_child_stats() { child_stats_ = false; }

    /// In which order these nodes are changed matters, although no request depends on it.
    void order_matters(std::string path) { ordered_.insert(std::move(path)); }

    /// All changes so far.
    const std::vector<log_entry>& log() const { return log_; }

    /// Which client of a connection it is, in the footprint.
    std::function<int(int connection)> client_of = [](int connection) { return connection; };

    /// Empty containers, which the server erases when it comes to it.
    std::vector<std::string> empty_containers() const;

private:
    using watch_list = std::map<std::string, std::set<int>>;
    using listing = std::vector<std::string>;

    struct replica {
        tree nodes;
        std::size_t applied = 0;
        watch_list data_watches;
        watch_list child_watches;
        watch_list recursive_watches;
    };

    int plan(const tree& t, const request& r, std::int64_t session, change& c);
    void commit(std::vector<change> changes);
    void touch_changed(const std::string& path);
    std::uint64_t name_for(const std::vector<change>& changes);
    void catch_up(std::size_t at);
    void trigger(
        watch_list& list, const std::string& path, int event, bool readable, std::set<int>& told);
    void trigger_parent(replica& r, const std::string& path);
    void trigger_above(
        const replica& r, const std::string& path, int event, bool readable, std::set<int>& told);
    void tell(int connection_id, int event, const std::string& path);
    void write(connection& c, const request& r, answer& a);
    void read(connection& c, const request& r, answer& a);
    void multi(connection& c, const request& r, answer& a);
    int look_up(const tree& t, const request& r, std::string& data, Stat& stat, listing& children);
    void read_all(const replica& here, const request& r, answer& a);
    void set_watches(connection& c, const request& r, answer& a);
    int remove_watches(connection& c, const request& r);
    Stat stat_of(const tree& t, const node& n) const;
    void forget_watches(int connection_id);
    void close_from_here(connection& c);
    void add_what_is_behind(hasher& h, const replica& r) const;
    void retire_connections_of(std::int64_t session, int successor);

    std::vector<replica> replicas_;  ///< the leader is the first
    std::vector<log_entry> log_;
    change_names names_;
    std::unordered_map<std::uint64_t, int> made_;  ///< how often the same was changed
    footprint touched_;
    std::set<std::string> ordered_;
    std::int32_t forbidden_ = 0;
    bool hides_unreadable_ = false;
    bool old_ = false;
    bool refused_ = false;
    bool child_stats_ = true;
    std::map<int, connection> connections_;
    std::map<std::int64_t, session_entry> sessions_;
    std::int64_t zxid_ = 0;
    std::int64_t time_ = 0;
};

}  // namespace corozk::model
