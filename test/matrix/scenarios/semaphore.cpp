// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::matrix {

namespace semaphore_scenarios {

constexpr share permits(int weight) {
    return {.alone = false, .weight = weight};
}

/// No permit is lost: all of them can be had.
awaitable<void> probe(client& c, stage& s) {
    s.owners.limit = 2;
    semaphore all(c, s.folder(), 2, options_of<semaphore_options>(s));
    ownership held = co_await all.acquire_for(2, s.patience());
    co_await others_turn(s, c, std::move(held), permits(2));
}

/// One permit behind somebody else's two.
awaitable<void> wait(stage& s) {
    s.owners.limit = 2;
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 2, options);
    ownership first = co_await theirs.acquire(2);
    s.enter_owner(first, party::theirs, permits(2));
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options);
    grant asked(s, "acquire", permits(1));
    mine->acquire_for(1, asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await first.release();
    co_await take_turn(s, asked, "holding");
}

/// Both permits, one after the other.
awaitable<void> both(stage& s) {
    s.owners.limit = 2;
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options_of<semaphore_options>(s));
    grant first(s, "acquire", permits(1));
    grant second(s, "acquire too", permits(1));
    mine->acquire_for(1, first.limit(), first.token());
    mine->acquire_for(1, second.limit(), second.token());
    ownership given = co_await first.result();
    droppable<ownership> one(s, std::move(given));
    co_await take_turn(s, second, "holding both");
    call<> released(s, "release the other");
    one->release(released.token());
    co_await released.result();
}

/// Waits for more than there is, until somebody else makes more of it.
awaitable<void> raised(stage& s) {
    s.owners.limit = 2;
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 1, options);
    ownership first = co_await theirs.acquire(1);
    s.enter_owner(first, party::theirs, permits(1));
    object<semaphore> mine(s, s.ours(), s.folder(), 1, options);
    grant asked(s, "acquire", permits(1));
    mine->acquire_for(1, asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await theirs.set_limit(2);
    co_await take_turn(s, asked, "holding");
    call<> lowering(s, "set_limit");
    mine->set_limit(1, lowering.token());
    co_await lowering.result();
    co_await s.state("lowered");
    co_await first.release();
}

/// Whoever comes next finds the limit that there is in the end.
awaitable<void> probe_of_any_limit(client& c, stage& s) {
    semaphore all(c, s.folder(), 2, options_of<semaphore_options>(s));
    co_await all.set_limit(2);
    co_await probe(c, s);
}

/// Waits for more than there is, until we make more of it.
awaitable<void> raised_by_us(stage& s) {
    s.owners.limit = 5;
    object<semaphore> mine(s, s.ours(), s.folder(), 3, options_of<semaphore_options>(s));
    grant two(s, "acquire two", permits(2));
    grant three(s, "acquire three", permits(3));
    mine->acquire(2, two.token());
    ownership given = co_await two.result();
    droppable<ownership> held(s, std::move(given));
    mine->acquire(3, three.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2 || three.done(); });
    s.check(!three.good() || !held.holds(), "there are no more than three");
    call<> raising(s, "set_limit");
    mine->set_limit(5, raising.token());
    co_await raising.result();
    s.check(s.data(s.folder()) == "5", "the limit is stored");
    co_await take_turn(s, three, "holding all");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// Two of ours behind somebody else's two: one after the other, as there is enough for them.
awaitable<void> behind(stage& s) {
    s.owners.limit = 3;
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 3, options);
    ownership a = co_await theirs.acquire(1);
    s.enter_owner(a, party::theirs, permits(1));
    ownership b = co_await theirs.acquire(2);
    s.enter_owner(b, party::theirs, permits(2));
    object<semaphore> mine(s, s.ours(), s.folder(), 3, options);
    grant two(s, "acquire two", permits(2));
    grant one(s, "acquire one", permits(1));
    mine->acquire(2, two.token());
    co_await s.state("one waits", [&] { return s.nodes() >= 3; });
    co_await s.settle();  // a create whose response was lost is known by now
    mine->acquire(1, one.token());
    co_await s.state("both wait", [&] { return s.nodes() >= 4; });
    s.check(!two.good() && !one.good(), "there is none left");
    co_await b.release();
    ownership given = co_await two.result();
    droppable<ownership> held(s, std::move(given));
    co_await s.settle();
    s.check(!one.good() || !held.holds(), "there is none left for the other");
    co_await a.release();
    co_await take_turn(s, one, "holding all");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// A semaphore as Curator or Kazoo has it.
template <compatibility Whose>
struct as_of {
    static semaphore_options options(const stage& s) {
        semaphore_options options = options_of<semaphore_options>(s);
        options.compatibility = Whose;
        return options;
    }
    static std::string path(const stage& s) { return s.folder() + "/s"; }
    static std::size_t leases(stage& s) {
        return s.children(Whose == compatibility::curator ? path(s) + "/leases" : path(s)).size();
    }

    static awaitable<void> probe(client& c, stage& s) {
        semaphore next(c, path(s), 2, options(s));
        ownership one = co_await next.acquire_for(s.patience());
        ownership other = co_await next.acquire_for(s.patience());
        s.check(one.valid() && other.valid(), "the next one has all permits");
        co_await one.release();
        co_await other.release();
    }

    /// Two of ours behind somebody else's two.
    static awaitable<void> behind(stage& s) {
        s.owners.limit = 2;
        semaphore theirs(s.theirs(), path(s), 2, options(s));
        ownership a = co_await theirs.acquire();
        s.enter_owner(a, party::theirs, permits(1));
        ownership b = co_await theirs.acquire();
        s.enter_owner(b, party::theirs, permits(1));
        object<semaphore> mine(s, s.ours(), path(s), 2, options(s));
        grant one(s, "acquire", permits(1));
        grant other(s, "acquire too", permits(1));
        mine->acquire(1, one.token());
        co_await s.state("waiting", [&] { return leases(s) >= 3; });
        mine->acquire(1, other.token());
        co_await s.settle();
        s.check(!one.good() && !other.good(), "there is none left");
        co_await b.release();
        ownership given = co_await one.result();
        droppable<ownership> held(s, std::move(given));
        co_await s.settle();
        s.check(!other.good() || !held.holds(), "there is none left for the other");
        co_await a.release();
        std::int64_t token = held->fencing_token();
        other.at_result([&s, token](const ownership& o) {
            s.enter_owner(o, party::ours, permits(1));
            s.check(o.fencing_token() > token, "fencing tokens grow");
        });
        co_await take_turn(s, other, "holding both");
        call<> released(s, "release");
        held->release(released.token());
        co_await released.result();
    }

    /// Three of ours share two permits.
    static awaitable<void> local(stage& s) {
        s.owners.limit = 2;
        object<semaphore> mine(s, s.ours(), path(s), 2, options(s));
        grant first(s, "acquire", permits(1));
        grant second(s, "acquire too", permits(1));
        grant third(s, "acquire as well", permits(1));
        std::vector<grant*> all{&first, &second, &third};
        for (grant* asked : all)
            mine->acquire(1, asked->token());
        co_await take_turns(s, all);
    }

    static scenario make(std::string name, awaitable<void> (*play)(stage&)) {
        scenario s;
        s.recipe = "semaphore";
        s.name = std::move(name);
        s.play = play;
        s.probe = probe;
        s.may_stay = [](stage&, const std::string& below) {
            return below == "s" || below == "s/leases" || below == "s/locks" ||
                   below == "s-__lock__";
        };
        s.only(at_requests, other_requests);
        return s;
    }
};
using curators = as_of<compatibility::curator>;
using kazoos = as_of<compatibility::kazoo>;

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "semaphore";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered(make("wait", wait)),
    registered(make("both", both)),
    registered([] {
        scenario s = make("raised by us", raised_by_us);
        s.probe = probe_of_any_limit;
        s.probe_takes_turns = false;  // it changes the limit
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("behind", behind);
        s.probe = probe_of_any_limit;
        s.probe_takes_turns = false;  // it changes the limit
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered(curators::make("curator, behind", curators::behind)),
    registered(curators::make("curator, local", curators::local)),
    registered(kazoos::make("kazoo, behind", kazoos::behind)),
    registered(kazoos::make("kazoo, local", kazoos::local)),
    registered([] {
        scenario s = make("raised", raised);
        s.probe = probe_of_any_limit;
        s.probe_takes_turns = false;  // it changes the limit
        s.without[fault::second_object] = "there are no permits for another one";
        s.without[fault::parent_deleted] = "the limit goes with the folder: it is not raised then";
        return s;
    }()),
};

}  // namespace semaphore_scenarios

}  // namespace corozk::matrix
