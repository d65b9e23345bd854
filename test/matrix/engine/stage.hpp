// SPDX-License-Identifier: Apache-2.0
// What a scenario of the fault matrix gets: two clients, a parent node, and names for its states.
#pragma once

#include "owner_registry.hpp"
#include "scenario.hpp"
#include <corozk/testing/admin.hpp>
#include <corozk/testing/eventually.hpp>
#include <corozk/testing/zookeeper_error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::matrix {

inline auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

/// The time allowed where a fault is about deadlines; how much later a call may end; and how long the hole
/// is: so long that who waits for its end is late. The delay is counted in ticks of the event loop, one after
/// the other: while this machine keeps it from running, it cannot end anything.
constexpr std::chrono::milliseconds short_limit{400};
constexpr std::chrono::milliseconds tick{100};
constexpr int allowed_ticks = 10;
constexpr std::chrono::milliseconds beyond_deadline{2'000};
/// Two of them are longer than the time allowed.
constexpr std::chrono::milliseconds slow_answer{250};

/// Thrown through a scenario that the fault has ended, as it may.
struct scenario_over {};

enum class party : std::uint8_t {
    ours,    ///< meets the fault
    theirs,  ///< somebody else, who meets only what happens to the nodes
};

/// One operation, as the engine sees it.
struct call_record {
    call_record(const boost::asio::any_io_executor& executor, std::string what, party who)
        : name(std::move(what)), whose(who), wake(executor), watchdog(executor) {}
    virtual ~call_record() = default;

    std::string name;
    party whose;
    int calls = 0;
    bool started = false;
    bool limited = false;  ///< has a time limit, which began at `began`
    bool late = false;     ///< it goes on although that is over
    std::chrono::steady_clock::time_point began;
    std::chrono::steady_clock::time_point ended;
    bool abandoned = false;  ///< by its scenario
    error_code ec;
    boost::asio::cancellation_signal cancel;
    boost::asio::steady_timer wake;
    boost::asio::steady_timer watchdog;
};

/// Destroys something. @return whether it was there
using destroyer = std::function<bool()>;

class stage {
public:
    struct setting {
        setting() = default;
        const scenario* what = nullptr;
        fault which = fault::none;
        std::string at_state;  ///< where a fault in a state goes
        bool settled = false;  ///< what it causes is waited for there
        std::string folder;
        std::string root;  ///< the clients' chroot
        std::uint16_t server_port = 0;
        corozk::acl entries;
        std::function<awaitable<void>(stage&)> apply;  ///< a fault in a state
    };

    stage(boost::asio::io_context& context, setting s, client ours, client theirs);

    // For scenarios ---------------------------------------------------------------------------

    /// Through the proxy. @throws scenario_over if it has been destroyed
    client& ours();
    client& theirs() { return theirs_; }
    const std::string& folder() const { return setting_.folder; }
    /// For the options of a recipe; empty means its default.
    const corozk::acl& entries() const { return setting_.entries; }
    fault which() const { return setting_.which; }

    /// How long anything may take that must happen.
    std::chrono::seconds patience() const {
        // A server that is starting may take a connection and never answer. The client gives it
        // up to a third of the session's timeout.
        return std::chrono::seconds(setting_.which == fault::server_restarted ? 60 : 20);
    }

    /// Its time limit begins.
    void watch_deadline(const std::shared_ptr<call_record>& c) const {
        if (is_about_deadlines(setting_.which))
            tick_after(c, short_limit, allowed_ticks);
    }

    /// How long ours waits at most, where an operation has a time limit.
    std::chrono::milliseconds limit() const {
        return is_about_deadlines(setting_.which) ? short_limit : patience();
    }

    /// As the server's own records have it, for a path as clients say it.
    bool exists(const std::string& path) { return stat(path).has_value(); }
    std::string data(const std::string& path) {
        return observed([&] { return observer().data(setting_.root + path); });
    }
    /// Of a node that the fault may delete at any moment.
    std::optional<std::string> data_if_there(const std::string& path) {
        try {
            return data(path);
        } catch (const testing::zookeeper_error& error) {
            if (error.code() != testing::zk_code::no_node)
                throw;
            return std::nullopt;
        }
    }
    std::vector<std::string> children(const std::string& path) {
        return observed([&] { return observer().children(setting_.root + path); });
    }
    std::optional<testing::node_stat> stat(const std::string& path) {
        return observed([&] { return observer().stat(setting_.root + path); });
    }
    void erase(const std::string& path) { observer().erase(setting_.root + path); }
    std::size_t nodes() { return children(folder()).size(); }

    /// Says that the scenario is in this state, once `reached()` holds: a place for a fault.
    template <class Predicate>
    awaitable<void> state(std::string_view name, Predicate reached) {
        co_await testing::eventually_async(
            [&] { return disturbed() || reached(); }, patience(), name);
        co_await enter_state(name);
    }
    awaitable<void> state(std::string_view name) { co_await enter_state(name); }

    /// Something that must hold.
    void check(bool holds, std::string_view what);

    /// For the invariant: remembered beyond the scenario.
    void note(const std::string& kind, std::string value) {
        notes_[kind].push_back(std::move(value));
    }
    const std::vector<std::string>& notes(const std::string& kind) { return notes_[kind]; }

    /// Something was ended by the fault, or an operation has failed: what is expected of an
    /// undisturbed run need not hold.
    bool disturbed() const;

    /// The fault has taken from us what belonged to our session, or to our nodes.
    bool deprived() const;
    /// ... of this node, too.
    bool deprived_of(const std::string& path);

    /// Somebody owns what he was just granted, for as long as he believes so.
    void enter_owner(const ownership& held, party whose, testing::share what = {});
    std::int64_t session_of(party whose) const {
        return (whose == party::ours ? ours_ : theirs_).status().session_id;
    }

    /// The fault forbids: ours has no permission for anything.
    bool forbidden() const { return setting_.which == fault::forbidding_acl; }
    /// The server has refused something of ours.
    bool refused() const;

    // For calls and objects -------------------------------------------------------------------

    void add(std::shared_ptr<call_record> record) { calls_.push_back(std::move(record)); }
    void add_object(std::weak_ptr<destroyer> destroy) { objects_.push_back(std::move(destroy)); }
    void add_grant(std::weak_ptr<destroyer> drop) { grants_.push_back(std::move(drop)); }
    /// Whether an operation may end like this here.
    bool permits(const error_code& ec, party whose) const;
    boost::asio::any_io_executor executor() const { return context_.get_executor(); }

    // For the engine --------------------------------------------------------------------------

    /// Cancels, destroys or closes: what this case's fault says.
    void interrupt();
    /// What was sent has its answers, and what these caused as well.
    awaitable<void> settle();
    /// With its session goes what it could not take away itself.
    awaitable<void> close_ours();
    /// As ours counts them.
    std::uint64_t watches_of_ours() const { return ours_gone_ ? 0 : ours_.counters().watches; }
    /// Every operation has come to its end.
    bool all_ended() const;
    /// Each was resumed exactly once.
    void check_calls();

    testing::admin& observer() { return owners.observer(); }
    const setting& set() const { return setting_; }
    std::string server_folder() const { return setting_.root + setting_.folder; }
    client release_theirs() { return std::move(theirs_); }
    client release_ours() { return std::move(ours_); }
    const std::vector<std::string>& states() const { return states_; }
    std::vector<std::string>& failures() { return failures_; }
    bool applied() const { return applied_; }
    /// It turned out that there is nothing to do.
    void set_void() {
        applied_ = false;
        in_vain_ = true;
    }
    bool in_vain() const { return in_vain_; }
    /// Something was granted that can be dropped.
    bool has_granted() const { return !grants_.empty(); }
    /// Something was asked for with a time limit.
    bool has_limited() const;

    testing::owner_registry owners;
    std::vector<std::string> planted;

private:
    /// Asks the server, again while it is restarting.
    template <class Question>
    auto observed(Question ask) -> decltype(ask()) {
        if (setting_.which != fault::server_restarted)
            return ask();
        decltype(ask()) answer{};
        testing::eventually(
            [&] {
                answer = ask();
                return true;
            },
            patience());
        return answer;
    }

    awaitable<void> enter_state(std::string_view name);
    awaitable<void> settle_down(std::int64_t session_before);
    std::size_t cancel_all(boost::asio::cancellation_type type);
    static void tick_after(const std::shared_ptr<call_record>& c,
                           std::chrono::milliseconds time,
                           int ticks_left);
    void check_deadline(const call_record& c);

    boost::asio::io_context& context_;
    setting setting_;
    client ours_;
    client theirs_;
    bool ours_gone_ = false;
    bool applied_ = false;
    bool in_vain_ = false;
    std::vector<std::shared_ptr<call_record>> calls_;
    std::vector<std::weak_ptr<destroyer>> objects_;
    std::vector<std::weak_ptr<destroyer>> grants_;
    std::map<std::string, std::vector<std::string>> notes_;
    std::vector<std::string> states_;
    std::vector<std::string> failures_;
};

/// Options of a recipe with the nodes' access control list in the member `acl`.
template <class Options>
Options options_of(const stage& s) {
    Options options;
    options.acl = s.entries();
    return options;
}

}  // namespace corozk::matrix
