// SPDX-License-Identifier: Apache-2.0
// Curator's recipes, as the other party of the tests in this folder.
//
// usage: CuratorContender task=TASK hosts=HOSTS path=PATH record=PATH [NAME=VALUE]...
//
//   task=contend    take turns at PATH until both parties have had their share
//   task=hold       get in once, and stay until RECORD/leave is there
//   task=revocable  the same, but leave when somebody asks for it
//   task=revoke     ask the owner of the node `node` to release
//   task=leader     print the leader's id, and each participant's, as LeaderLatch or LeaderSelector
//                   sees them
//   task=set        set the barrier at PATH
//   task=remove     remove it
//   task=wait       print "through" once there is none
//   task=rounds     enter and leave the double barrier at PATH `count` times; print "inside" and
//                   "outside". Stay inside until RECORD/leave is there, and begin each round but
//                   the first when RECORD/round-N is there
//   task=member     be the member `identity` of the group at PATH until RECORD/leave is there; print
//                   the members at every change
//   task=value      print each value at PATH until RECORD/leave is there; change it to `set` first
//   task=keep       keep a node at PATH with the data `identity` until RECORD/leave is there; print
//                   "there" when it is
//   task=put        put `count` items named after us into the queue at PATH
//   task=take       take items until one is "stop"; print them
//   task=add        add 1 to the counter at PATH, `count` times
//   task=register   register the instance `identity` of the service "web" at PATH, as our instances are
//                   (see discovery_test.cpp), until RECORD/leave is there
//   task=find       print the instances of the service "web" at PATH whenever they change, and which
//                   of them a provider chooses, until RECORD/leave is there
//
// The names and values: kind (mutex, multi, shared, semaphore, semaphore_mutex, election, selector,
// queue, long, integer, shared_count, shared_value, ephemeral, persistent, dynamic, static, object),
// contenders, handovers, together, limit, count, identity, node, role, session (milliseconds), set.
// A "multi" is acquired at PATH/a and PATH/b; instances of the kind "object" have a payload of a class.
//
// What happens inside is written down at RECORD through a session of its own, see record.hpp.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.shared.SharedValueListener;
import org.apache.curator.framework.recipes.shared.SharedValueReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.ServiceCacheListener;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

public final class CuratorContender {
    static final String OURS = "curator";

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** A line for the test, among what is logged. */
    static void say(String line) {
        System.out.println("= " + line);
        System.out.flush();
    }

    /** Name and value of each argument. */
    static final class Options {
        private final Map<String, String> values = new HashMap<>();

        Options(String[] arguments) {
            for (String argument : arguments) {
                int at = argument.indexOf('=');
                values.put(argument.substring(0, at), argument.substring(at + 1));
            }
        }

        String get(String name, String otherwise) {
            return values.getOrDefault(name, otherwise);
        }

        String get(String name) {
            String value = values.get(name);
            if (value == null) throw new IllegalArgumentException("no " + name + "=");
            return value;
        }

        int number(String name, int otherwise) {
            return Integer.parseInt(get(name, Integer.toString(otherwise)));
        }
    }

    static CuratorFramework connect(Options options) throws InterruptedException {
        CuratorFramework client =
                CuratorFrameworkFactory.builder()
                        .connectString(options.get("hosts"))
                        .sessionTimeoutMs(options.number("session", 30_000))
                        .connectionTimeoutMs(30_000)
                        .retryPolicy(new ExponentialBackoffRetry(100, 3))
                        .build();
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** Who is inside, written down by everybody who gets in. */
    static final class Record {
        private final CuratorFramework client;
        private final String root;
        private final int limit;
        private final int handovers;
        private final int together;

        Record(Options options) throws InterruptedException {
            client = connect(options);
            root = options.get("record");
            limit = options.number("limit", 1000);
            handovers = options.number("handovers", 0);
            together = options.number("together", 0);
        }

        void violation(String what) throws Exception {
            client.create()
                    .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                    .forPath(root + "/violations/v-", bytes(what));
        }

        /** What one visit needs to know. */
        static final class Visit {
            String marker;
            boolean done;
        }

        Visit enter(String role) throws Exception {
            Visit visit = new Visit();
            visit.marker =
                    client.create()
                            .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                            .forPath(root + "/inside/" + OURS + "-" + role + "-");
            List<String> inside = client.getChildren().forPath(root + "/inside");
            boolean writers = inside.stream().anyMatch(name -> name.contains("-write-"));
            boolean others = inside.stream().anyMatch(name -> !name.startsWith(OURS + "-"));
            if (inside.size() > limit || (writers && inside.size() > 1)) {
                violation(visit.marker + " found " + inside);
            }
            while (true) {
                Stat stat = new Stat();
                String[] turns =
                        text(client.getData().storingStatIn(stat).forPath(root + "/turns"))
                                .split(" ");
                // Here "ours" is the library under test, and "theirs" is us.
                int toOurs = Integer.parseInt(turns[1]);
                int toTheirs = Integer.parseInt(turns[2]);
                int ours = Integer.parseInt(turns[3]);
                int theirs = Integer.parseInt(turns[4]) + 1;
                int both = Integer.parseInt(turns[5]) + (others ? 1 : 0);
                if (!turns[0].equals(OURS)) toTheirs++;
                String next =
                        OURS + " " + toOurs + " " + toTheirs + " " + ours + " " + theirs + " " + both;
                try {
                    client.setData()
                            .withVersion(stat.getVersion())
                            .forPath(root + "/turns", bytes(next));
                } catch (KeeperException.BadVersionException e) {
                    if (role.equals("write")) {
                        violation("somebody wrote while " + visit.marker + " was inside");
                    }
                    continue;
                }
                visit.done = toOurs >= handovers && toTheirs >= handovers && both >= together;
                return visit;
            }
        }

        void leave(Visit visit) throws Exception {
            client.delete().forPath(visit.marker);
        }

        void waitForLeave() throws Exception {
            CuratorContender.waitForLeave(client, root);
        }
    }

    static void waitForLeave(CuratorFramework client, String root) throws Exception {
        waitFor(client, root + "/leave");
    }

    static void waitFor(CuratorFramework client, String path) throws Exception {
        CountDownLatch there = new CountDownLatch(1);
        Stat stat =
                client.checkExists()
                        .usingWatcher((org.apache.zookeeper.Watcher) event -> there.countDown())
                        .forPath(path);
        if (stat == null) there.await();
    }

    /** What is done inside. */
    interface Body {
        void run() throws Exception;
    }

    /** Gets in, runs the body, and gets out. */
    interface Place {
        void visit(String role, Body body) throws Exception;
    }

    static void locked(InterProcessMutex lock, Body body) throws Exception {
        lock.acquire();
        try {
            body.run();
        } finally {
            lock.release();
        }
    }

    static Place place(CuratorFramework client, Options options) {
        String path = options.get("path");
        String identity = options.get("identity", OURS);
        switch (options.get("kind")) {
            case "mutex":
                return (role, body) -> locked(new InterProcessMutex(client, path), body);
            case "shared":
                return (role, body) -> {
                    InterProcessReadWriteLock lock =
                            new InterProcessReadWriteLock(client, path, bytes(identity));
                    locked(role.equals("read") ? lock.readLock() : lock.writeLock(), body);
                };
            case "semaphore":
                return (role, body) -> {
                    InterProcessSemaphoreV2 semaphore =
                            new InterProcessSemaphoreV2(client, path, options.number("limit", 1));
                    semaphore.setNodeData(bytes(identity));
                    Lease lease = semaphore.acquire();
                    try {
                        body.run();
                    } finally {
                        semaphore.returnLease(lease);
                    }
                };
            case "semaphore_mutex":
                return (role, body) -> {
                    InterProcessSemaphoreMutex lock = new InterProcessSemaphoreMutex(client, path);
                    lock.acquire();
                    try {
                        body.run();
                    } finally {
                        lock.release();
                    }
                };
            case "multi":
                return (role, body) -> {
                    InterProcessMultiLock lock =
                            new InterProcessMultiLock(client, List.of(path + "/a", path + "/b"));
                    lock.acquire();
                    try {
                        body.run();
                    } finally {
                        lock.release();
                    }
                };
            case "election":
                return (role, body) -> {
                    try (LeaderLatch latch = new LeaderLatch(client, path, identity)) {
                        latch.start();
                        latch.await();
                        body.run();
                    }
                };
            case "selector":
                return (role, body) -> {
                    CountDownLatch led = new CountDownLatch(1);
                    AtomicReference<Exception> failure = new AtomicReference<>();
                    try (LeaderSelector selector =
                            selector(
                                    client,
                                    options,
                                    () -> {
                                        try {
                                            body.run();
                                        } catch (Exception e) {
                                            failure.set(e);
                                        }
                                        led.countDown();
                                    })) {
                        selector.start();
                        led.await();
                    }
                    if (failure.get() != null) throw failure.get();
                };
            default:
                throw new IllegalArgumentException("no such place: " + options.get("kind"));
        }
    }

    static LeaderSelector selector(CuratorFramework client, Options options, Body term) {
        LeaderSelectorListenerAdapter listener =
                new LeaderSelectorListenerAdapter() {
                    @Override
                    public void takeLeadership(CuratorFramework ignored) throws Exception {
                        term.run();
                    }
                };
        LeaderSelector selector = new LeaderSelector(client, options.get("path"), listener);
        selector.setId(options.get("identity", OURS));
        return selector;
    }

    static String[] roles(Options options) {
        switch (options.get("kind")) {
            case "shared":
                return new String[] {"read", "read", "write"};
            case "semaphore":
                return new String[] {"read"};
            default:
                return new String[] {"write"};
        }
    }

    static void contend(Options options) throws Exception {
        Record record = new Record(options);
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < options.number("contenders", 2); i++) {
            Thread thread =
                    new Thread(
                            () -> {
                                try {
                                    takeTurns(options, record);
                                } catch (Throwable e) {
                                    synchronized (failures) {
                                        failures.add(e);
                                    }
                                }
                            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
        record.client.close();
        for (Throwable failure : failures) failure.printStackTrace();
        if (!failures.isEmpty()) System.exit(1);
    }

    static void takeTurns(Options options, Record record) throws Exception {
        CuratorFramework client = connect(options);
        Place place = place(client, options);
        String[] roles = roles(options);
        boolean[] done = {false};
        for (int turn = 0; !done[0]; turn++) {
            String role = roles[turn % roles.length];
            place.visit(
                    role,
                    () -> {
                        Record.Visit visit = record.enter(role);
                        record.leave(visit);
                        done[0] = visit.done;
                    });
        }
        client.close();
    }

    static void hold(Options options) throws Exception {
        Record record = new Record(options);
        CuratorFramework client = connect(options);
        String role = options.get("role", roles(options)[0]);
        place(client, options)
                .visit(
                        role,
                        () -> {
                            Record.Visit visit = record.enter(role);
                            record.waitForLeave();
                            record.leave(visit);
                        });
        client.close();
        record.client.close();
    }

    static void revocable(Options options) throws Exception {
        Record record = new Record(options);
        CuratorFramework client = connect(options);
        InterProcessMutex lock =
                options.get("kind").equals("shared")
                        ? new InterProcessReadWriteLock(client, options.get("path")).writeLock()
                        : new InterProcessMutex(client, options.get("path"));
        CountDownLatch asked = new CountDownLatch(1);
        lock.makeRevocable(which -> asked.countDown());
        locked(
                lock,
                () -> {
                    Record.Visit visit = record.enter("write");
                    asked.await();
                    record.leave(visit);
                });
        client.close();
        record.client.close();
    }

    static void revoke(Options options) throws Exception {
        CuratorFramework client = connect(options);
        Revoker.attemptRevoke(client, options.get("node"));
        client.close();
    }

    static void leader(Options options) throws Exception {
        CuratorFramework client = connect(options);
        Participant leader;
        Collection<Participant> participants;
        if (options.get("kind", "election").equals("selector")) {
            LeaderSelector selector = selector(client, options, () -> {});
            leader = selector.getLeader();
            participants = selector.getParticipants();
        } else {
            LeaderLatch latch = new LeaderLatch(client, options.get("path"), "onlooker");
            leader = latch.getLeader();
            participants = latch.getParticipants();
        }
        say("leader " + leader.getId());
        for (Participant participant : participants) say("participant " + participant.getId());
        client.close();
    }

    static void barrier(Options options) throws Exception {
        CuratorFramework client = connect(options);
        DistributedBarrier barrier = new DistributedBarrier(client, options.get("path"));
        switch (options.get("task")) {
            case "set":
                barrier.setBarrier();
                break;
            case "remove":
                barrier.removeBarrier();
                break;
            default:
                barrier.waitOnBarrier();
                say("through");
        }
        client.close();
    }

    static void rounds(Options options) throws Exception {
        CuratorFramework client = connect(options);
        for (int i = 1; i <= options.number("count", 1); i++) {
            if (i > 1) waitFor(client, options.get("record") + "/round-" + i);
            DistributedDoubleBarrier barrier =
                    new DistributedDoubleBarrier(
                            client, options.get("path"), options.number("limit", 2));
            barrier.enter();
            say("inside");
            waitForLeave(client, options.get("record"));
            barrier.leave();
            say("outside");
        }
        client.close();
    }

    static void member(Options options) throws Exception {
        CuratorFramework client = connect(options);
        String name = options.get("identity");
        GroupMember member =
                new GroupMember(client, options.get("path"), name, bytes("data of " + name));
        member.start();
        CountDownLatch leave = new CountDownLatch(1);
        Thread follower =
                new Thread(
                        () -> {
                            String last = "";
                            while (leave.getCount() > 0) {
                                StringBuilder now = new StringBuilder("members");
                                // It has no listeners.
                                new TreeMap<>(member.getCurrentMembers())
                                        .forEach((who, data) -> now.append(" " + who + "=" + text(data)));
                                if (!now.toString().equals(last)) say(last = now.toString());
                                LockSupport.parkNanos(10_000_000);
                            }
                        });
        follower.start();
        waitForLeave(client, options.get("record"));
        leave.countDown();
        follower.join();
        member.close();
        client.close();
    }

    /** Prints what listeners hear of, too. */
    static void value(Options options) throws Exception {
        CuratorFramework client = connect(options);
        String path = options.get("path");
        String change = options.get("set", "");
        if (options.get("kind").equals("shared_value")) {
            SharedValue value = new SharedValue(client, path, bytes("seed"));
            value.getListenable()
                    .addListener(
                            new SharedValueListener() {
                                @Override
                                public void valueHasChanged(SharedValueReader from, byte[] now) {
                                    say("value " + text(now));
                                }

                                @Override
                                public void stateChanged(
                                        CuratorFramework ignored, ConnectionState state) {}
                            });
            value.start();
            say("value " + text(value.getValue()));
            if (!change.isEmpty()) {
                while (!value.trySetValue(value.getVersionedValue(), bytes(change))) {}
            }
            waitForLeave(client, options.get("record"));
            value.close();
        } else {
            SharedCount count = new SharedCount(client, path, 7);
            count.addListener(
                    new SharedCountListener() {
                        @Override
                        public void countHasChanged(SharedCountReader from, int now) {
                            say("value " + now);
                        }

                        @Override
                        public void stateChanged(
                                CuratorFramework ignored, ConnectionState state) {}
                    });
            count.start();
            say("value " + count.getCount());
            if (!change.isEmpty()) count.setCount(Integer.parseInt(change));
            waitForLeave(client, options.get("record"));
            count.close();
        }
        client.close();
    }

    static void keep(Options options) throws Exception {
        CuratorFramework client = connect(options);
        String path = options.get("path");
        byte[] data = bytes(options.get("identity", OURS));
        CreateMode mode =
                options.get("kind").equals("ephemeral")
                        ? CreateMode.EPHEMERAL
                        : CreateMode.PERSISTENT;
        try (PersistentNode node = new PersistentNode(client, mode, false, path, data)) {
            node.start();
            node.waitForInitialCreate(60, TimeUnit.SECONDS);
            say("there");
            waitForLeave(client, options.get("record"));
        }
        client.close();
    }

    static void put(Options options) throws Exception {
        CuratorFramework client = connect(options);
        SimpleDistributedQueue queue = new SimpleDistributedQueue(client, options.get("path"));
        for (int i = 0; i < options.number("count", 1); i++) queue.offer(bytes(OURS + "-" + i));
        client.close();
    }

    static void take(Options options) throws Exception {
        CuratorFramework client = connect(options);
        SimpleDistributedQueue queue = new SimpleDistributedQueue(client, options.get("path"));
        while (true) {
            String item = text(queue.take());
            if (item.equals("stop")) break;
            say(item);
        }
        client.close();
    }

    static void add(Options options) throws Exception {
        CuratorFramework client = connect(options);
        String path = options.get("path");
        int count = options.number("count", 1);
        RetryNTimes always = new RetryNTimes(100_000, 0);
        switch (options.get("kind")) {
            case "long": {
                DistributedAtomicLong counter = new DistributedAtomicLong(client, path, always);
                for (int i = 0; i < count; i++) check(counter.increment());
                break;
            }
            case "integer": {
                DistributedAtomicInteger counter =
                        new DistributedAtomicInteger(client, path, always);
                for (int i = 0; i < count; i++) check(counter.increment());
                break;
            }
            case "shared_count": {
                SharedCount counter = new SharedCount(client, path, 0);
                counter.start();
                for (int i = 0; i < count; ) {
                    var seen = counter.getVersionedValue();
                    if (counter.trySetCount(seen, seen.getValue() + 1)) i++;
                }
                counter.close();
                break;
            }
            default:
                throw new IllegalArgumentException("no such counter: " + options.get("kind"));
        }
        client.close();
    }

    static void check(AtomicValue<?> result) {
        if (!result.succeeded()) throw new IllegalStateException("the counter was not changed");
    }

    /** A payload that is an object. */
    public static final class Build {
        public String version;
        public int shard;

        public Build() {}

        Build(String version, int shard) {
            this.version = version;
            this.shard = shard;
        }

        @Override
        public String toString() {
            return version + "/" + shard;
        }
    }

    static <Payload> ServiceDiscovery<Payload> discovery(
            CuratorFramework client, Options options, Class<Payload> type) throws Exception {
        ServiceDiscovery<Payload> discovery =
                ServiceDiscoveryBuilder.builder(type)
                        .client(client)
                        .basePath(options.get("path"))
                        .build();
        discovery.start();
        return discovery;
    }

    static <Payload> void register(Options options, Class<Payload> type, Payload payload)
            throws Exception {
        Record record = new Record(options);
        CuratorFramework client = connect(options);
        ServiceDiscovery<Payload> discovery = discovery(client, options, type);
        ServiceInstance<Payload> instance =
                ServiceInstance.<Payload>builder()
                        .name("web")
                        .id(options.get("identity"))
                        .address("127.0.0.1")
                        .port(8080)
                        .sslPort(8443)
                        .payload(payload)
                        .serviceType(
                                options.get("kind").equals("static")
                                        ? ServiceType.STATIC
                                        : ServiceType.DYNAMIC)
                        .uriSpec(new UriSpec("{scheme}://{address}:{ssl-port}/{[}x{]}"))
                        .build();
        discovery.registerService(instance);
        say("registered");
        record.waitForLeave();
        discovery.close();
        client.close();
        record.client.close();
    }

    /** Instances as one line. */
    static <Payload> String print(List<ServiceInstance<Payload>> instances) {
        List<String> texts = new ArrayList<>();
        for (ServiceInstance<Payload> instance : instances) {
            texts.add(
                    instance.getId()
                            + " "
                            + instance.buildUriSpec()
                            + " "
                            + instance.getPort()
                            + " "
                            + instance.getServiceType()
                            + " "
                            + instance.isEnabled()
                            + " "
                            + instance.getPayload());
        }
        texts.sort(null);
        return String.join("; ", texts);
    }

    static <Payload> void find(Options options, Class<Payload> type) throws Exception {
        Record record = new Record(options);
        CuratorFramework client = connect(options);
        ServiceDiscovery<Payload> discovery = discovery(client, options, type);
        ServiceProvider<Payload> provider =
                discovery.serviceProviderBuilder().serviceName("web").build();
        provider.start();
        ServiceCache<Payload> cache = discovery.serviceCacheBuilder().name("web").build();
        cache.addListener(
                new ServiceCacheListener() {
                    @Override
                    public void cacheChanged() {
                        say("found " + print(cache.getInstances()));
                    }

                    @Override
                    public void stateChanged(CuratorFramework c, ConnectionState state) {}
                });
        cache.start();
        say("found " + print(cache.getInstances()));
        record.waitForLeave();
        say("queried " + print(new ArrayList<>(discovery.queryForInstances("web"))));
        say("services " + String.join(" ", discovery.queryForNames()));
        ServiceInstance<Payload> chosen = provider.getInstance();
        say("chosen " + (chosen == null ? "nobody" : chosen.getId()));
        cache.close();
        provider.close();
        discovery.close();
        client.close();
        record.client.close();
    }

    static void perform(Options options) throws Exception {
        switch (options.get("task")) {
            case "contend": contend(options); break;
            case "hold": hold(options); break;
            case "revocable": revocable(options); break;
            case "revoke": revoke(options); break;
            case "leader": leader(options); break;
            case "set":
            case "remove":
            case "wait": barrier(options); break;
            case "rounds": rounds(options); break;
            case "member": member(options); break;
            case "value": value(options); break;
            case "keep": keep(options); break;
            case "put": put(options); break;
            case "take": take(options); break;
            case "add": add(options); break;
            case "register":
                if (options.get("kind").equals("object"))
                    register(options, Build.class, new Build("7", 3));
                else
                    register(options, String.class, "\u00e4 \"text\"");
                break;
            case "find":
                if (options.get("kind").equals("object")) find(options, Build.class);
                else find(options, String.class);
                break;
            default: throw new IllegalArgumentException("no such task: " + options.get("task"));
        }
    }

    public static void main(String[] arguments) {
        try {
            perform(new Options(arguments));
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);  // whatever threads there are
        }
        System.out.flush();
        System.exit(0);
    }
}
