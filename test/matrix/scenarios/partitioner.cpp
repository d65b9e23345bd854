// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corozk::matrix {

namespace partitioner_scenarios {

using names = std::vector<std::string>;
using shares = std::map<std::string, std::unique_ptr<droppable<ownership>>>;

names one() {
    return {"r"};
}
names two() {
    return {"r", "s"};
}

partitioner_options at_once(const stage& s) {
    partitioner_options options = options_of<partitioner_options>(s);
    options.settle = std::chrono::milliseconds(0);
    return options;
}

/// Each resource has an order of owners of its own: the registry's follows one.
void enter(stage& s, const partition_grant& grant, party whose) {
    // Where it is restarted, the server may be gone by now.
    if (grant.resource == "r" && s.which() != fault::server_restarted)
        s.enter_owner(grant.held, whose, {.in_line = false});
}

/// What the probe and the companion have is not the engine's to drop.
void apply(stage& s,
           std::map<std::string, ownership>& held,
           partition_change& change,
           party whose) {
    for (const std::string& resource : change.lost)
        held.erase(resource);
    for (const std::string& resource : change.to_release)
        s.check(held.erase(resource) == 1, "what is to be released was had: " + resource);
    for (partition_grant& grant : change.gained) {
        enter(s, grant, whose);
        s.check(held.emplace(grant.resource, std::move(grant.held)).second,
                "what is gained was not had: " + grant.resource);
    }
}

awaitable<void> probe(client& c, stage& s) {
    partitioner p(c, s.folder(), two(), at_once(s));
    co_await p.join_for("next", s.patience());
    std::map<std::string, ownership> held;
    while (held.size() < 2) {
        partition_change change = co_await p.next_for(s.patience());
        apply(s, held, change, party::theirs);
    }
    held.clear();
    co_await p.leave();
}

awaitable<void> joins_too(client& c, stage& s) {
    partitioner p(c, s.folder(), two(), at_once(s));
    co_await p.join_for("c", s.patience());
    co_await p.leave();
}

/// Somebody else, who takes and gives what it is told to.
class other_member : public std::enable_shared_from_this<other_member> {
public:
    other_member(stage& s, names resources)
        : stage_(s), partitioner_(s.theirs(), s.folder(), std::move(resources), at_once(s)) {}

    awaitable<void> join() {
        co_await partitioner_.join_for("b", stage_.patience());
        take();
    }
    /// Gives everything back.
    awaitable<void> leave() {
        co_await partitioner_.leave();
        end();
    }
    void end() {
        over_ = true;
        held_.clear();
        partitioner_ = partitioner();
    }

    std::size_t count() const { return held_.size(); }

private:
    void take() {
        partitioner_.next([self = shared_from_this()](error_code ec, partition_change change) {
            if (ec || self->over_)
                return;
            apply(self->stage_, self->held_, change, party::theirs);
            self->take();
        });
    }

    stage& stage_;
    partitioner partitioner_;
    std::map<std::string, ownership> held_;
    bool over_ = false;
};

/// Ends it with the scenario, which may be interrupted.
struct ended {
    explicit ended(std::shared_ptr<other_member> one) : who(std::move(one)) {}
    ended(const ended&) = delete;
    ended& operator=(const ended&) = delete;
    ~ended() { who->end(); }
    std::shared_ptr<other_member> who;
};

/// The next change of ours, unless `enough` comes first.
template <class Enough>
awaitable<void> take_next(stage& s, object<partitioner>& p, shares& held, Enough enough) {
    call<partition_change> news(s, "next");
    news.at_result([&s](const partition_change& change) {
        for (const partition_grant& grant : change.gained)
            enter(s, grant, party::ours);
    });
    p->next_for(news.limit(), news.token());
    co_await testing::eventually_async(
        [&] { return news.done() || enough(); }, s.patience(), "news, or all is well");
    if (!news.done())
        co_return;
    partition_change change = co_await news.result();
    s.check(!change.empty(), "there is something to be told");
    for (const std::string& resource : change.lost) {
        auto had = held.find(resource);
        s.check(had != held.end(), "what is lost was had: " + resource);
        s.check(had == held.end() || !had->second->holds(), "what is lost is not had");
        held.erase(resource);
    }
    for (const std::string& resource : change.to_release)
        s.check(held.erase(resource) == 1, "what is to be released was had: " + resource);
    for (partition_grant& grant : change.gained) {
        auto had = held.find(grant.resource);
        // What the engine has dropped is granted again.
        s.check(had == held.end() || !had->second->holds(),
                "what is gained was not had: " + grant.resource);
        held.insert_or_assign(grant.resource,
                              std::make_unique<droppable<ownership>>(s, std::move(grant.held)));
    }
}

/// Besides what the engine has dropped, or what is lost and not told yet.
bool has(const shares& held, std::ptrdiff_t count) {
    return std::count_if(held.begin(), held.end(), [](const auto& one) {
               return one.second->holds();
           }) == count;
}

template <class Enough>
awaitable<void> reach_when(stage& s, object<partitioner>& p, shares& held, Enough enough) {
    while (!enough())
        co_await take_next(s, p, held, enough);
}

/// Ours has so many, whatever has happened before.
awaitable<void> reach(stage& s, object<partitioner>& p, shares& held, std::ptrdiff_t count) {
    auto enough = [&held, count] { return has(held, count); };
    co_await reach_when(s, p, held, enough);
}

/// What a fault in this state has taken is told, and granted again.
awaitable<void> recover(
    stage& s, std::string_view state, object<partitioner>& p, shares& held, std::ptrdiff_t count) {
    if (s.set().at_state == state && deletes_own(s.which())) {
        bool gone = false;
        for (auto& [resource, one] : held)
            gone = gone || !s.exists((*one)->path());
        co_await testing::eventually_async(
            [&] { return !gone || !has(held, count); }, s.patience(), "the loss is seen");
    }
    co_await reach(s, p, held, count);
}

awaitable<void> end(stage& s, object<partitioner>& p, shares& held) {
    call<> leaving(s, "leave");
    p->leave_for(leaving.limit(), leaving.token());
    co_await leaving.result();
    held.clear();
    co_await s.state("outside");
    s.check(!p->joined(), "it is no member any more");
}

/// Alone.
awaitable<void> member(stage& s) {
    object<partitioner> p(s, s.ours(), s.folder(), two(), at_once(s));
    call<> joining(s, "join");
    p->join_for("a", joining.limit(), joining.token());
    co_await joining.result();
    co_await s.state("joined");
    shares held;
    co_await reach(s, p, held, 2);
    co_await s.state("holding");
    co_await recover(s, "holding", p, held, 2);
    co_await end(s, p, held);
}

/// Gives one of two to another member, and gets it back when that one leaves.
awaitable<void> hand_over(stage& s) {
    object<partitioner> p(s, s.ours(), s.folder(), two(), at_once(s));
    call<> joining(s, "join");
    p->join_for("a", joining.limit(), joining.token());
    co_await joining.result();
    shares held;
    co_await reach(s, p, held, 2);
    ended other(std::make_shared<other_member>(s, two()));
    co_await other.who->join();
    co_await s.state("two members");
    auto shared = [&] { return has(held, 1) && other.who->count() == 1; };
    co_await reach_when(s, p, held, shared);
    co_await s.state("shared");
    co_await other.who->leave();
    co_await reach(s, p, held, 2);
    co_await end(s, p, held);
}

/// Takes over from one who has everything.
awaitable<void> take_over(stage& s) {
    ended other(std::make_shared<other_member>(s, one()));
    co_await other.who->join();
    co_await s.state("the other one has it", [&] { return other.who->count() == 1; });
    object<partitioner> p(s, s.ours(), s.folder(), one(), at_once(s));
    call<> joining(s, "join");
    p->join_for("a", joining.limit(), joining.token());
    co_await joining.result();
    co_await s.state("waiting");
    co_await other.who->leave();
    shares held;
    co_await reach(s, p, held, 1);
    co_await s.state("holding");
    co_await recover(s, "holding", p, held, 1);
    co_await end(s, p, held);
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "partitioner";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.companion = joins_too;
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "members" || below == "decider" || below == "locks" || below == "locks/r" ||
               below == "locks/s";
    };
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("member", member);
        s.foreign_in = "/members";
        return s;
    }()),
    registered([] {
        scenario s = make("hand over", hand_over);
        s.without[fault::second_object] = "a third member would have a share of its own";
        return s;
    }()),
    registered([] {
        scenario s = make("take over", take_over);
        s.only(at_requests, other_requests);
        return s;
    }()),
};

}  // namespace partitioner_scenarios

}  // namespace corozk::matrix
