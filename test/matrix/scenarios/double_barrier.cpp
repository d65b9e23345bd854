// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/double_barrier.hpp>

namespace corozk::matrix {

namespace double_barrier_scenarios {

template <compatibility format>
double_barrier_options options_in(const stage& s) {
    double_barrier_options options = options_of<double_barrier_options>(s);
    options.compatibility = format;
    return options;
}

/// A whole round of two others.
template <compatibility format>
awaitable<void> probe(client& c, stage& s) {
    double_barrier_options options = options_in<format>(s);
    double_barrier a(c, s.folder(), 2, options);
    double_barrier b(c, s.folder(), 2, options);
    call<> a_in(s, "the next one's enter", party::theirs);
    call<> a_out(s, "the next one's leave", party::theirs);
    a.enter(a_in.token());
    co_await b.enter_for(s.patience());
    co_await a_in.result();
    a.leave(a_out.token());
    co_await b.leave_for(s.patience());
    co_await a_out.result();
}

/// Whether the fault may have taken the node of ours.
bool may_have_died(const stage& s) {
    return s.deprived() || ends_session(s.which());
}

/// Ours first, then somebody else's.
awaitable<void> enter(stage& s) {
    double_barrier_options options = options_of<double_barrier_options>(s);
    object<double_barrier> mine(s, s.ours(), s.folder(), 2, options);
    double_barrier theirs(s.theirs(), s.folder(), 2, options);
    double_barrier third(s.theirs(), s.folder(), 2, options);
    call<> in(s, "enter");
    call<> their_in(s, "their enter", party::theirs);
    call<> their_out(s, "their leave", party::theirs);
    call<> third_in(s, "the third one's enter", party::theirs);
    mine->enter_for(in.limit(), in.token());
    co_await s.state("entering", [&] { return s.nodes() >= 1; });
    s.check(!in.good(), "one alone is not let in");
    theirs.enter(their_in.token());
    if (in.done())
        co_await in.result();
    co_await testing::eventually_async(
        [&] { return their_in.done() || in.done(); }, s.patience(), "the round begins");
    if (!their_in.done())
        co_await in.result();
    co_await their_in.result();
    co_await s.state("inside");
    // A member that has died when the round began comes again, and belongs to the next one.
    theirs.leave(their_out.token());
    co_await testing::eventually_async(
        [&] { return in.done() || their_out.done(); }, s.patience(), "it is in, or dead");
    s.check(in.done() || may_have_died(s), "a living member is not passed over");
    if (!in.done())
        third.enter(third_in.token());
    co_await in.result();
}

/// From inside, ours first.
awaitable<void> leave(stage& s) {
    double_barrier_options options = options_of<double_barrier_options>(s);
    object<double_barrier> mine(s, s.ours(), s.folder(), 2, options);
    double_barrier theirs(s.theirs(), s.folder(), 2, options);
    call<> in(s, "enter");
    call<> their_in(s, "their enter", party::theirs);
    call<> out(s, "leave");
    call<> their_out(s, "their leave", party::theirs);
    theirs.enter(their_in.token());
    mine->enter_for(in.limit(), in.token());
    co_await testing::eventually_async(
        [&] { return in.done() || their_in.done(); }, s.patience(), "the round begins");
    if (in.done())
        co_await in.result();
    co_await their_in.result();
    // One that has died when the round began comes again, into the next one.
    bool left = !in.done();
    if (left) {
        theirs.leave(their_out.token());
        co_await testing::eventually_async(
            [&] { return in.done() || their_out.done(); }, s.patience(), "it is in, or dead");
        s.check(in.done() || may_have_died(s), "a living member is not passed over");
    }
    if (!in.done())
        throw scenario_over();
    co_await in.result();
    co_await s.state("inside");
    mine->leave_for(out.limit(), out.token());
    co_await s.state("leaving");
    s.check(!out.good() || left || s.deprived() || ends_session(s.which()), "nobody leaves alone");
    if (!left)
        theirs.leave(their_out.token());
    co_await their_out.result();
    co_await out.result();
}

/// Both members are of one session.
template <compatibility format>
awaitable<void> local(stage& s) {
    double_barrier_options options = options_in<format>(s);
    object<double_barrier> a(s, s.ours(), s.folder(), 2, options);
    object<double_barrier> b(s, s.ours(), s.folder(), 2, options);
    call<> a_in(s, "enter");
    call<> b_in(s, "enter too");
    call<> a_out(s, "leave");
    call<> b_out(s, "leave too");
    a->enter_for(a_in.limit(), a_in.token());
    co_await s.state("entering", [&] { return s.nodes() >= 1; });
    b->enter_for(b_in.limit(), b_in.token());
    co_await a_in.result();
    co_await b_in.result();
    co_await s.state("inside");
    a->leave_for(a_out.limit(), a_out.token());
    co_await s.state("leaving");
    b->leave_for(b_out.limit(), b_out.token());
    co_await a_out.result();
    co_await b_out.result();
}

/// Two rounds: in the first one ours comes and goes first, in the second one last.
template <compatibility format>
awaitable<void> rounds(stage& s) {
    double_barrier_options options = options_in<format>(s);
    double_barrier mine(s.ours(), s.folder(), 2, options);
    double_barrier theirs(s.theirs(), s.folder(), 2, options);
    for (std::uint64_t round : {1u, 2u}) {
        double_barrier& first = round == 1 ? mine : theirs;
        double_barrier& last = round == 1 ? theirs : mine;
        call<> first_in(s, "the first one's enter");
        call<> last_in(s, "the last one's enter");
        first.enter(first_in.token());
        co_await testing::eventually_async(
            [&] { return s.nodes() == 1; }, s.patience(), "the first one is there");
        co_await s.settle();
        s.check(!first_in.done(), "one alone is not let in");
        last.enter(last_in.token());
        co_await first_in.result();
        co_await last_in.result();
        s.check(mine.round() == round && theirs.round() == round, "both are in this round");
        const bool ready = format != compatibility::native;  // has a node
        s.check(s.nodes() == (ready ? 3 : 2), "two nodes for two members");
        call<> first_out(s, "the first one's leave");
        call<> last_out(s, "the last one's leave");
        first.leave(first_out.token());
        co_await s.settle();
        s.check(!first_out.done(), "nobody leaves alone");
        last.leave(last_out.token());
        co_await first_out.result();
        co_await last_out.result();
        s.check(s.nodes() == 0, "nobody is left");
    }
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "double_barrier";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe<compatibility::native>;
    s.without[fault::second_object] =
        "one more member would take a place in the round; both of `local` are of one session";
    return s;
}

/// In the format of Curator and Kazoo.
scenario make_of_page(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s = make("curator, " + std::move(name), play);
    s.probe = probe<compatibility::curator>;
    const char* unseen =
        "a member watches `ready` only, as in Curator: others delete its node unseen";
    s.without[fault::own_node_deleted] = unseen;
    s.without[fault::parent_deleted] = unseen;
    s.without[fault::foreign_children] = "whatever stands in the folder is a member";
    // Whoever enters next deletes it.
    s.may_stay = [](stage&, const std::string& below) { return below == "ready"; };
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("enter", enter);
        s.outlives_session = true;
        return s;
    }()),
    registered([] {
        scenario s = make("leave", leave);
        s.without[fault::may_not_delete] =
            "nobody is outside before all are: who may not take its node away keeps the others in";
        return s;
    }()),
    registered(make("local", local<compatibility::native>)),
    registered(make_of_page("local", local<compatibility::curator>)),
    registered([] {
        scenario s = make("rounds", rounds<compatibility::native>);
        s.only(survived, "`enter` and `leave` show what becomes of who dies or is interrupted");
        return s;
    }()),
    registered([] {
        scenario s = make_of_page("rounds", rounds<compatibility::curator>);
        s.only(survived, "`local` shows what becomes of who dies or is interrupted");
        return s;
    }()),
};

}  // namespace double_barrier_scenarios

}  // namespace corozk::matrix
