// SPDX-License-Identifier: Apache-2.0
// One schedule as it is played: the model, the clients, the actors, and what happens next.
#pragma once

#include "actor.hpp"
#include "chooser.hpp"
#include "model/network.hpp"
#include "move.hpp"
#include "rules.hpp"
#include "scenario.hpp"
#include <corozk/ownership.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::schedule {

class stage {
public:
    stage(const scenario& what, rules how);
    ~stage();
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    // For scenarios ---------------------------------------------------------------------------

    client& zk(int index) { return *clients_[static_cast<std::size_t>(index)]; }

    using part = awaitable<void> (*)(actor&);

    /// Somebody plays; starts when the schedule starts.
    void play(std::string name, int client_index, std::function<awaitable<void>(actor&)> body);

    /// Checked after each move.
    void always(std::function<void(stage&)> invariant) { always_.push_back(std::move(invariant)); }

    /// Checked when everything is over and quiet.
    void finally(std::function<void(stage&)> invariant) {
        finally_.push_back(std::move(invariant));
    }

    /// Where rights are missing, and something was refused, only what must hold even then counts.
    void check(bool holds, const std::string& what) {
        check_always(holds || (what_.missing_rights != 0 && server_.has_refused()), what);
    }
    void check_always(bool holds, const std::string& what) {
        if (!holds)
            violations_.push_back(what);
    }

    /// It is there from the beginning, so that nobody makes it.
    void plant(const std::string& path, std::string data = {}, std::int32_t next_sequence = 1);

    /// By the model's own records.
    const model::tree& nodes() const { return server_.leader(); }
    model::server& zookeeper() { return server_; }
    bool exists(const std::string& path);
    std::vector<std::string> children(const std::string& path);
    std::string data(const std::string& path);

    /// Nodes that a fault may erase.
    void may_erase(std::function<std::vector<std::string>(stage&)> which) {
        erasable_ = std::move(which);
    }

    /// Folders in which nothing is left in the end.
    void leaves_nothing_in(std::string folder) { empty_.push_back(std::move(folder)); }

    /// Watches may be left (the scenario keeps an object that watches).
    void keeps_watches() { keeps_watches_ = true; }

    /// Owners, and whether they exclude each other.
    class tenure;

    /// Not of a connection that broke, or a lost answer: nobody need notice.
    bool happened(move_kind k) const { return happened_.contains(k); }
    /// Whether what others have done may be unknown where one asks.
    bool servers_lag() const { return what_.followers > 0; }
    bool any_fault() const { return faults_done_ > 0; }
    bool session_ended(int client_index) const { return ended_sessions_.contains(client_index); }
    const std::set<std::string>& erased_nodes() const { return erased_nodes_; }

    /// Free notes of the scenario, for its invariants. In which order actors write them down at the
    /// same time does not matter.
    void note_down(const std::string& kind, const std::string& what) {
        touched_.touch(model::thing::note, kind, model::use::add);
        notes_[kind].push_back(what);
    }
    const std::vector<std::string>& notes(const std::string& kind) {
        touched_.touch(model::thing::note, kind, model::use::read);
        return notes_[kind];
    }

    /// An actor goes on according to something that its client did not learn from a message.
    void remember(int client_index, std::uint64_t what) { input(client_index, what); }

    // For the scheduler -----------------------------------------------------------------------

    /// Plays one schedule. What is thrown meanwhile is a violation, too.
    /// @return false if the chooser had enough of it
    /// @throws not_this_schedule
    bool run(chooser& c);

    /// The same from a choice on, in the moment in which it was made.
    bool go_on_with(std::size_t chosen, chooser& c);

    const std::vector<std::string>& violations() const { return violations_; }

    /// Says of each move what it is, before it is made.
    void trace_to(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

    /// How long the clients have been busy at a stretch with what came of a kind of move: processor
    /// time, of one turn of their loop or several.
    struct stretch {
        std::uint64_t times = 0;
        std::chrono::nanoseconds longest{};

        void add(const stretch& other) {
            times += other.times;
            longest = std::max(longest, other.longest);
        }
    };
    const std::map<move_kind, stretch>& stretches() const { return stretches_; }
    void measure_stretches() { measuring_ = true; }
    std::uint64_t hash() const;

    /// What the moves since the last time have touched; complete once the server's part is in it.
    void complete_footprint() { touched_.merge(server_.take_footprint()); }
    const model::footprint& touched() const { return touched_; }
    void forget_footprint() { touched_.clear(); }
    int last_client() const { return last_client_; }
    int client_of(const move& m) const;

    /// Moves that were made, and those among them that were a choice.
    std::size_t steps() const { return steps_; }

private:
    friend class tenure;

    template <class Part>
    bool catching(Part play);
    bool set_up();
    bool play_out(chooser& c);
    void note_choice(std::size_t chosen);
    bool all_done() const;
    bool is_over();
    bool all_connected() const;
    bool all_wait() const;
    bool is_explored() const;
    bool close_down();
    std::vector<move> moves();
    void add_faults(std::vector<move>& list);
    bool may_still_happen(move_kind fault) const;
    void apply(const move& m);
    void note(const move& m);
    void settle();
    void run_clients();
    void check_owners();
    void see_owners();
    void touch(const move& m);
    bool has_a_twin_before(int client_index) const;
    bool is_at_rest(int client_index) const;
    void quiet_down(std::int64_t for_ms);
    bool step_freely();
    void pass_time(bool early);
    void count_outages(std::int64_t wait, bool early);
    void input(int client_index, std::uint64_t what);
    static int client_of_connection(int connection);
    static constexpr int first_port = 1000;  ///< of the first client's addresses
    bool silenced(const model::connection& c) const;

    scenario what_;
    rules rules_;
    model::server server_;
    model::network network_;
    std::deque<actor> actors_;
    std::optional<boost::asio::io_context> context_{std::in_place};
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::function<void(stage&)>> always_;
    std::vector<std::function<void(stage&)>> finally_;
    std::function<std::vector<std::string>(stage&)> erasable_;
    std::vector<std::string> empty_;
    std::map<std::string, std::vector<std::string>> notes_;
    std::set<const tenure*> owners_;
    std::uint64_t owners_seen_ = 0;  ///< who they are, and which of them rightly
    model::footprint touched_;
    std::set<int> begun_;                       ///< clients that something has happened to
    std::vector<std::uint64_t> history_;        ///< of what each client has received
    std::map<int, std::int64_t> silent_until_;  ///< by client
    std::set<move_kind> happened_;
    std::set<int> ended_sessions_;  ///< clients whose session a fault has ended
    /// A client's time without a connection, of which the clock took some while something was in flight.
    /// Not part of the state: only random schedules have early time.
    struct outage {
        std::int64_t ms = 0;
        bool rushed = false;
    };
    std::map<int, outage> outages_;
    /// Those that the server has ended before their time, and whose clients cannot know yet.
    std::set<std::int64_t> expired_sessions_;
    std::set<std::string> erased_nodes_;
    std::vector<std::string> violations_;
    std::function<void(const std::string&)> tell_;
    bool measuring_ = false;
    std::map<move_kind, stretch> stretches_;
    move_kind cause_ = move_kind::time;  ///< of what the clients do now
    bool finishing_ = false;
    bool keeps_watches_ = false;
    int faults_done_ = 0;
    std::vector<move_kind> kinds_left_;  ///< where the rules name them
    int switches_done_ = 0;
    int last_client_ = -1;
    std::size_t steps_ = 0;
    std::size_t choices_made_ = 0;
    std::vector<move> list_;  ///< what may happen next
    bool half_done_ = false;  ///< all have waited once
};

/// Being an owner: who else is one at the same time, by the model's records.
class stage::tenure {
public:
    /// @param weight    of a limited number (`limit`); an exclusive owner has all of it
    tenure(actor& a, const ownership& held, int weight = 1, int limit = 1);
    /// @param valid  whether the actor believes to own what `path` stands for
    tenure(actor& a, std::string path, std::function<bool()> valid, int weight = 1, int limit = 1);
    tenure(const tenure&) = delete;
    tenure& operator=(const tenure&) = delete;
    ~tenure();

private:
    friend class stage;
    actor& actor_;
    std::string path_;
    std::function<bool()> valid_;
    int weight_;
    int limit_;
};

}  // namespace corozk::schedule
