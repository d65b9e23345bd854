// SPDX-License-Identifier: Apache-2.0
// Recipes whose nodes belong to those with credentials: a stranger can neither read, join nor break.
#include "pending_result.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::strangers_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

const std::string password = "word-that-nobody-else-knows";

/// What every log line of every client here said.
std::string logged;

awaitable<client> connected(bool with_credentials) {
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options = options_for(shared_server().hosts());
    if (with_credentials)
        options.auth.emplace_back("digest", "friend:" + password);
    options.logger = logger(log_level::debug, [](log_level, std::string_view line) {
        logged += line;
        logged += '\n';
    });
    client zk = co_await client::connect(executor, options);
    co_return zk;
}

/// Runs a coroutine with one who has the credentials, one who has not, and a folder of the first.
template <class Body>
void with_stranger(Body body) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client insider = co_await connected(true);
            client stranger = co_await connected(false);
            std::string folder = fresh_path();
            corozk::acl entries = creator_acl();
            co_await insider.create(folder, "", create_options{.acl = &entries});
            co_await body(insider, stranger, folder);
            co_await insider.close(as_tuple());
            co_await stranger.close(as_tuple());
        },
        120s);
    run_to_idle(context);
    CHECK(logged.find(password) == std::string::npos);
}

awaitable<void> collect(client& zk, std::string path, std::vector<std::string>& found) {
    found.push_back(path);
    node_children below = co_await zk.get_children(path);
    for (const std::string& name : below.names)
        co_await collect(zk, path + "/" + name, found);
}

/// Whatever is there, a stranger can do nothing to it.
awaitable<void> locked_up(client& insider, client& stranger, std::string folder) {
    std::vector<std::string> nodes;
    co_await collect(insider, folder, nodes);
    CHECK(nodes.size() > 1);
    corozk::acl everybody = corozk::open_acl();
    for (const std::string& path : nodes) {
        INFO(path);
        auto [read, data] = co_await stranger.get(path, as_tuple());
        CHECK(read == zk_errc::no_auth);
        auto [list, names] = co_await stranger.get_children(path, as_tuple());
        CHECK(list == zk_errc::no_auth);
        auto [write, record] = co_await stranger.set(path, "mine", any_version, as_tuple());
        CHECK(write == zk_errc::no_auth);
        auto [plant, made] =
            co_await stranger.create(path + "/planted", "", create_options(), as_tuple());
        CHECK(plant == zk_errc::no_auth);
        auto [take] = co_await stranger.set_acl(path, everybody, any_version, as_tuple());
        CHECK(take == zk_errc::no_auth);
        if (path == folder)
            continue;  // it stands in a folder that is everybody's
        auto [erase] = co_await stranger.erase(path, any_version, as_tuple());
        CHECK(erase == zk_errc::no_auth);
    }
}

template <class Options>
Options mine() {
    Options options;
    options.acl = creator_acl();
    return options;
}

template <class Awaitable>
awaitable<void> attempt(Awaitable& what, error_code& ec) {
    try {
        co_await std::move(what);
    } catch (const boost::system::system_error& e) {
        ec = e.code();
    }
}

/// Ends with `no_auth`, and soon: does not wait for what it will never see.
template <class Awaitable>
awaitable<void> refused(Awaitable what) {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer limit(co_await boost::asio::this_coro::executor, 10s);
    error_code ec;
    co_await (attempt(what, ec) || limit.async_wait(boost::asio::use_awaitable));
    CHECK(ec == zk_errc::no_auth);
}

}  // namespace

TEST_CASE("strangers: locks, permits and leaderships") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        std::string a = folder + "/lock", b = folder + "/shared", c = folder + "/priority",
                    d = folder + "/semaphore", e = folder + "/election", f = folder + "/latch";
        lock my_lock(insider, a, mine<lock_options>());
        shared_lock my_shared(insider, b, mine<shared_lock_options>());
        priority_lock my_priority(insider, c, mine<priority_lock_options>());
        semaphore my_permits(insider, d, 2, mine<semaphore_options>());
        election my_election(insider, e, mine<election_options>());
        ownership held[5];
        held[0] = co_await my_lock.acquire();
        held[1] = co_await my_shared.acquire_read();
        held[2] = co_await my_priority.acquire(1);
        held[3] = co_await my_permits.acquire(1);
        held[4] = co_await my_election.campaign();
        co_await my_election.acknowledge(held[4]);
        co_await locked_up(insider, stranger, folder);

        lock their_lock(stranger, a);
        shared_lock their_shared(stranger, b);
        priority_lock their_priority(stranger, c);
        semaphore their_permits(stranger, d, 2);
        election their_election(stranger, e);
        co_await refused(their_lock.acquire());
        co_await refused(their_lock.list_contenders());
        co_await refused(their_lock.break_contender(held[0].path()));
        co_await refused(their_lock.request_release(held[0].path()));
        co_await refused(their_shared.acquire_read());
        co_await refused(their_shared.acquire_write());
        co_await refused(their_priority.acquire(0));
        co_await refused(their_permits.acquire());
        co_await refused(their_permits.count_available());
        co_await refused(their_permits.set_limit(3));
        co_await refused(their_election.campaign());
        co_await refused(their_election.get_leader());
        std::vector<std::string> paths{a, b, c, d, e};
        co_await refused(find_deadlocks(stranger, paths));
        contention_inspector seen(stranger, a);
        co_await refused(seen.list_contenders());
        for (const ownership& o : held)
            CHECK(o.valid());
    });
}

TEST_CASE("strangers: barriers, queues, counters") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        std::string a = folder + "/barrier", b = folder + "/double", c = folder + "/queue",
                    d = folder + "/ranked", e = folder + "/counter", f = folder + "/delayed";
        barrier my_barrier(insider, a, mine<barrier_options>());
        double_barrier my_double(insider, b, 1, mine<double_barrier_options>());
        queue my_queue(insider, c, mine<queue_options>());
        priority_queue my_ranked(insider, d, mine<queue_options>());
        counter my_counter(insider, e, mine<counter_options>());
        delay_queue my_delayed(insider, f, mine<queue_options>());
        co_await my_barrier.set();
        co_await my_double.enter();
        co_await my_queue.put("one");
        co_await my_queue.put("two");
        queue_claim claim = co_await my_queue.consume();
        co_await my_ranked.put("item", 1);
        co_await my_counter.add(1);
        co_await my_delayed.put("now", 0s);
        co_await my_delayed.put("later", 24h);
        co_await locked_up(insider, stranger, folder);

        barrier their_barrier(stranger, a);
        double_barrier their_double(stranger, b, 1);
        queue their_queue(stranger, c);
        priority_queue their_ranked(stranger, d);
        counter their_counter(stranger, e);
        delay_queue their_delayed(stranger, f);
        co_await refused(their_barrier.remove());
        co_await refused(their_double.enter());
        co_await refused(their_queue.put("theirs"));
        co_await refused(their_queue.take());
        co_await refused(their_queue.consume());
        co_await refused(their_queue.peek());
        co_await refused(their_ranked.take());
        co_await refused(their_counter.add(1));
        co_await refused(their_delayed.put("theirs", 0s));
        co_await refused(their_delayed.take());
        co_await refused(their_delayed.consume());
        co_await refused(their_delayed.peek());
        co_await refused(their_counter.get());
        CHECK(claim.valid());
        co_await claim.acknowledge();
    });
}

TEST_CASE("strangers: configurations, caches, members, names, meetings, transactions") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        std::string a = folder + "/one", b = folder + "/ready", c = folder + "/versioned";
        configuration my_value(insider, a, mine<configuration_options>());
        ready_configuration my_ready(insider, b, mine<configuration_options>());
        versioned_configuration my_versioned(insider, c, mine<configuration_options>());
        configuration_parts parts{{"name", "value"}};
        co_await my_value.publish("secret");
        co_await my_ready.publish(parts);
        co_await my_versioned.publish(parts);
        membership my_group(insider, folder + "/group", mine<membership_options>());
        name_service my_names(insider, folder + "/names", mine<name_service_options>());
        rendezvous my_meeting(insider, folder + "/meeting", mine<rendezvous_options>());
        const std::vector<std::string> shards{"one", "two"};
        partitioner my_shards(insider, folder + "/shards", shards, mine<partitioner_options>());
        co_await my_group.join("me");
        co_await my_shards.join("me");
        co_await my_names.register_name("service", "address");
        service_discovery my_services(
            insider, folder + "/services", mine<service_discovery_options>());
        service_instance instance("web", "127.0.0.1", 80), lasting = instance;
        lasting.id += "-lasting";
        lasting.type = service_type::permanent;
        co_await my_services.register_instance(instance);
        co_await my_services.register_instance(lasting);
        co_await my_meeting.publish("here");
        co_await locked_up(insider, stranger, folder);

        configuration their_value(stranger, a);
        ready_configuration their_ready(stranger, b);
        versioned_configuration their_versioned(stranger, c);
        co_await refused(their_value.next());
        co_await refused(their_value.next());
        CHECK(their_value.current().revision == 0);
        co_await refused(their_value.publish("theirs"));
        co_await refused(their_ready.next());
        co_await refused(their_ready.publish(parts));
        co_await refused(their_versioned.next());
        co_await refused(their_versioned.publish(parts));
        node_cache node(stranger, a);
        children_cache children(stranger, folder + "/group");
        tree_cache tree(stranger, folder);
        co_await refused(node.next());
        co_await refused(children.next());
        co_await refused(tree.next());
        CHECK_FALSE(tree.current().exists);

        membership their_group(stranger, folder + "/group");
        name_service their_names(stranger, folder + "/names");
        name_watch their_name = their_names.follow("service");
        rendezvous their_meeting(stranger, folder + "/meeting");
        persistent_node their_node(stranger, folder + "/node");
        co_await refused(their_node.keep("theirs"));
        co_await refused(their_group.join("they"));
        co_await refused(their_group.join("me"));
        co_await refused(their_group.list_members());
        partitioner their_shards(stranger, folder + "/shards", shards);
        co_await refused(their_shards.join("they"));
        co_await refused(their_shards.join("me"));
        co_await refused(their_group.next());
        co_await refused(their_names.register_name("service", "theirs"));
        co_await refused(their_names.register_name("other", "theirs"));
        co_await refused(their_names.register_name("other", "theirs", create_mode::ephemeral));
        co_await refused(their_names.unregister("service"));
        co_await refused(their_names.resolve("service"));
        co_await refused(their_names.await_for("service", 20s));
        co_await refused(their_names.list());
        co_await refused(their_name.next());
        service_discovery their_services(stranger, folder + "/services");
        service_cache their_cache(stranger, folder + "/services", "web");
        service_provider their_provider(stranger, folder + "/services", "web");
        co_await refused(their_services.register_instance(lasting));
        co_await refused(their_services.register_instance(instance));
        co_await refused(their_services.update(lasting));
        co_await refused(their_services.unregister(lasting));
        co_await refused(their_services.resolve("web"));
        co_await refused(their_services.list_names());
        co_await refused(their_cache.next());
        co_await refused(their_provider.choose());
        co_await refused(their_provider.try_choose());
        co_await refused(their_provider.get_endpoints());
        co_await refused(their_meeting.publish("theirs"));
        co_await refused(their_meeting.await());
        co_await refused(their_meeting.next());
    });
}

TEST_CASE("strangers: a cache hears of a permission that is given, and of one that is taken") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        std::string path = folder + "/value";
        corozk::acl entries = creator_acl(), everybody = corozk::open_acl();
        co_await insider.create(path, "secret", create_options{.acl = &entries});
        node_cache cache(stranger, path);
        co_await refused(cache.next());
        co_await insider.set_acl(path, everybody);
        node_state known = co_await cache.next();
        CHECK(known.data == "secret");
        co_await insider.set_acl(path, entries);
        // The server says nothing of this; what is written from now on is not for us.
        co_await insider.set(path, "another secret");
        CHECK(cache.current().data == "secret");
        co_await insider.set_acl(path, everybody);
        co_await insider.set(path, "told");
        co_await stranger.sync(path);
    });
}

namespace {

awaitable<void> caches_with_a_secret(client& insider,
                                     client& stranger,
                                     std::string path,
                                     cache_options options) {
    std::string secret = path + "/secret";
    corozk::acl entries = creator_acl(), everybody = corozk::open_acl();
    co_await insider.create(path, "", create_options{.acl = &everybody});
    co_await insider.create(secret, "secret", create_options{.acl = &entries});
    co_await insider.set(secret, "another secret");
    co_await insider.create(path + "/told", "told", create_options{.acl = &everybody});
    std::optional<corozk::stat> there = co_await insider.exists(secret);
    REQUIRE(there);
    // Since 3.9.3 servers tell only those who may read a node that it exists.
    auto [hidden, seen] = co_await stranger.exists(secret, as_tuple());
    const corozk::stat shown = hidden ? corozk::stat() : *there;
    children_cache cache(stranger, path, options);
    tree_state known = co_await cache.next();
    REQUIRE(known.nodes->size() == 2);
    CHECK(known.nodes->at("told").data == "told");
    CHECK(known.nodes->at("secret").data.empty());
    CHECK((known.nodes->at("secret").stat == shown));
    co_await insider.erase(secret);
    while (known.nodes->size() == 2)
        known = co_await cache.next(known);
    CHECK(known.nodes->contains("told"));
    // Its parent is watched from then on.
    co_await insider.create(secret, "again", create_options{.acl = &entries});
    while (known.nodes->size() == 1)
        known = co_await cache.next(known);
    CHECK(known.nodes->at("secret").data.empty());
}

}  // namespace

TEST_CASE("strangers: in a cache's folder, what may not be read is there without its data") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        cache_options options;
        co_await caches_with_a_secret(insider, stranger, folder + "/recursive", options);
        options.one_shot_watches = true;
        co_await caches_with_a_secret(insider, stranger, folder + "/one-shot", options);
    });
}

TEST_CASE("strangers: two-phase commits and leader latches") {
    with_stranger([](client& insider, client& stranger, std::string folder) -> awaitable<void> {
        std::string a = folder + "/commit", b = folder + "/latch";
        commit_options options = mine<commit_options>();
        commit_coordinator coordinator(insider, a, options);
        commit_site site(insider, a, "one", options);
        std::vector<std::string> sites{"one", "two"};
        co_await coordinator.begin(sites, "secret");
        co_await site.join();
        leader_latch latch(insider, b, mine<election_options>());
        latch.start();
        co_await latch.wait_leadership();
        co_await locked_up(insider, stranger, folder);

        commit_coordinator theirs(stranger, a);
        co_await refused(theirs.begin(sites, "theirs"));
        co_await refused(theirs.resume());
        co_await refused(theirs.abort("why not"));
        co_await refused(theirs.clean_up(true));
        commit_site two(stranger, a, "two");
        co_await refused(two.join());
        co_await refused(two.wait_outcome());
        // Nothing of these is sent: it has neither begun nor joined.
        auto [decided, nothing] = co_await theirs.decide(as_tuple());
        CHECK(decided == errc::not_a_member);
        auto [voted, none] = co_await two.vote(commit_vote::commit, as_tuple());
        CHECK(voted == errc::not_a_member);
        leader_latch their_latch(stranger, b);
        their_latch.start();
        co_await refused(their_latch.wait_leadership());
        CHECK(latch.has_leadership());
    });
}

TEST_CASE(
    "strangers: who has been at the nodes of a transaction is noticed, and not asked for ever") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string tx = path + "/tx";
        const std::vector<std::string> sites{"one"};
        admin hand = observer();
        commit_coordinator coordinator(zk, tx);
        co_await coordinator.begin(sites, "");
        // A decision that is another transaction's, while ours is still there.
        hand.plant(tx + "/decision", "commit\n00000000000000000000000000000000");
        auto [resumed, none] = co_await coordinator.resume(as_tuple());
        CHECK(resumed == errc::foreign_data);
        auto [cleaned] = co_await coordinator.clean_up(true, as_tuple());
        CHECK(cleaned == errc::foreign_data);
        CHECK(hand.exists(tx + "/decision"));
        hand.erase(tx + "/decision");
        // No identity.
        for (const std::string& name : hand.children(tx))
            hand.erase(tx + "/" + name);
        commit_site site(zk, tx, "one");
        auto [joined, nothing] = co_await site.join(as_tuple());
        CHECK(joined == errc::foreign_data);
    });
}

TEST_CASE(
    "strangers: what does not fit into a request is refused, and not by a broken connection") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::vector<std::string> sites{"one"};
        commit_coordinator coordinator(zk, path + "/tx");
        co_await coordinator.begin(sites, "");
        std::string reason(2'000'000, 'x');
        auto [ec, outcome] = co_await coordinator.abort(std::move(reason), as_tuple());
        CHECK(ec == errc::too_large);
        // A header with a guid that is none of ours.
        std::string header = "corozk two-phase commit 2\nform=all_sites\nguid=";
        header.append(600'000, 'a').append("\nsite=one\n\n");
        observer().plant(path + "/large", header);
        commit_site site(zk, path + "/large", "one");
        auto [joined, none] = co_await site.join(as_tuple());
        CHECK(joined == errc::foreign_data);
        CHECK(zk.counters().connects == 1);
    });
}

}  // namespace corozk::testing::strangers_test
