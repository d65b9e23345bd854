// SPDX-License-Identifier: Apache-2.0
// Curator's recipes as they are meant to be used, for corozk-bench: see README.md in this folder.
//
// usage: CuratorPeer REQUESTS HOSTS SESSION_TIMEOUT_MS

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;

public final class CuratorPeer {
    private static String hosts;
    private static int sessionTimeout;

    private CuratorPeer() {}

    /** Some sessions, closed at the end. */
    private static final class Sessions implements AutoCloseable {
        final List<CuratorFramework> all = new ArrayList<>();

        Sessions(int count) throws InterruptedException {
            for (int i = 0; i < count; i++) {
                CuratorFramework client =
                        CuratorFrameworkFactory.builder()
                                .connectString(hosts)
                                .sessionTimeoutMs(sessionTimeout)
                                .connectionTimeoutMs(15_000)
                                .retryPolicy(new ExponentialBackoffRetry(1_000, 3))
                                .build();
                client.getConnectionStateListenable()
                        .addListener(
                                (which, state) -> {
                                    if (state != ConnectionState.CONNECTED)
                                        Protocol.note("connection " + state);
                                });
                client.start();
                all.add(client);
            }
            for (CuratorFramework client : all) client.blockUntilConnected();
        }

        CuratorFramework of(int who) {
            return all.get(who % all.size());
        }

        @Override
        public void close() {
            for (CuratorFramework client : all) client.close();
        }
    }

    /** A lock, whatever its kind, is acquired and released on one thread. */
    private static Crowd.Contender contender(Protocol.Request request, CuratorFramework client, int who) {
        String path = request.text("path");
        switch (request.text("kind")) {
            case "lock":
                return mutex(new InterProcessMutex(client, path), false);
            case "shared_lock": {
                boolean reads = who % (request.number("readers", 3) + 1) != 0;
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
                return mutex(reads ? lock.readLock() : lock.writeLock(), reads);
            }
            case "semaphore":
                return semaphore(
                        new InterProcessSemaphoreV2(client, path, request.number("limit", 10)));
            default:
                throw new IllegalArgumentException("no such kind: " + request.text("kind"));
        }
    }

    private static Crowd.Contender mutex(InterProcessMutex lock, boolean shared) {
        return new Crowd.Contender() {
            @Override
            public void acquire() throws Exception {
                lock.acquire();
            }

            @Override
            public void release() throws Exception {
                lock.release();
            }

            @Override
            public boolean shared() {
                return shared;
            }
        };
    }

    private static Crowd.Contender semaphore(InterProcessSemaphoreV2 semaphore) {
        return new Crowd.Contender() {
            private Lease lease;

            @Override
            public void acquire() throws Exception {
                lease = semaphore.acquire();
            }

            @Override
            public void release() {
                semaphore.returnLease(lease);
            }

            @Override
            public boolean shared() {
                return true;
            }
        };
    }

    private static void handover(Protocol.Request request) throws Exception {
        int waiters = request.number("waiters", 1);
        try (Sessions sessions = new Sessions(request.number("sessions", 1))) {
            if (request.text("kind").equals("election")) {
                elect(request, sessions, waiters);
                return;
            }
            boolean permits = request.text("kind").equals("semaphore");
            int holders = permits ? request.number("limit", 10) : 1;
            int before = request.number("before", 0);
            if (before > 0) holders = 0;
            // A waiter for a permit queues for the semaphore's own lock, where the first one of
            // them watches the permits.
            String folder = request.text("path") + (permits ? "/locks" : "");
            int nodes = permits ? 0 : Math.max(before, holders);
            new Crowd(holders, waiters, request.number("hold", 0))
                    .run(
                            who -> contender(request, sessions.of(who), who),
                            List.of(folder),
                            nodes,
                            request.text("kind").equals("lock") ? waiters : 0);
        }
    }

    /** Latches are told, they do not wait: one thread closes those that have led. */
    private static void elect(Protocol.Request request, Sessions sessions, int waiters)
            throws Exception {
        Crowd crowd = new Crowd(1, waiters);
        BlockingQueue<long[]> led = new LinkedBlockingQueue<>();
        List<LeaderLatch> latches = new ArrayList<>();
        for (int i = 0; i <= waiters; i++) {
            int who = i;
            LeaderLatch latch =
                    new LeaderLatch(sessions.of(i), request.text("path"), "candidate-" + i);
            latch.addListener(
                    new LeaderLatchListener() {
                        @Override
                        public void isLeader() {
                            led.add(new long[] {who, System.nanoTime()});
                        }

                        @Override
                        public void notLeader() {}
                    });
            latches.add(latch);
        }
        latches.get(0).start();
        latches.get(0).await();
        Protocol.phase("queue");
        long began = System.nanoTime();
        for (int i = 1; i <= waiters; i++) latches.get(i).start();
        crowd.queued(List.of(request.text("path")), waiters + 1, waiters, began);
        Protocol.phase("drain");
        began = System.nanoTime();
        for (int i = 0; i <= waiters; i++) {
            long[] turn = led.take();
            crowd.record(turn[1], System.nanoTime(), false);
            latches.get((int) turn[0]).close();
            if (turn[0] > 0) crowd.oneEnded();
        }
        crowd.drained(began);
    }

    /** Each in a session of its own, again and again. */
    private static void turns(Protocol.Request request) throws Exception {
        int clients = request.number("clients", 1);
        int each = Math.max(request.number("turns", 100) / clients, 1);
        boolean leads = request.text("kind").equals("election");
        try (Sessions sessions = new Sessions(clients)) {
            // The folder is there before anybody is measured.
            sessions.of(0).create().creatingParentsIfNeeded().forPath(request.text("path"));
            Crowd.inTurns(clients, each)
                    .takeTurns(
                            who ->
                                    leads
                                            ? candidate(request, sessions.of(who), who)
                                            : contender(request, sessions.of(who), who),
                            each);
        }
    }

    /** A latch leads once: a fresh one for each term. */
    private static Crowd.Contender candidate(
            Protocol.Request request, CuratorFramework client, int who) {
        return new Crowd.Contender() {
            private LeaderLatch latch;

            @Override
            public void acquire() throws Exception {
                latch = new LeaderLatch(client, request.text("path"), "candidate-" + who);
                latch.start();
                latch.await();
            }

            @Override
            public void release() throws Exception {
                latch.close();
            }
        };
    }

    private static void uncontended(Protocol.Request request) throws Exception {
        try (Sessions sessions = new Sessions(1)) {
            InterProcessMutex lock = new InterProcessMutex(sessions.of(0), request.text("path"));
            Loops.uncontended(
                    request,
                    () -> {
                        lock.acquire();
                        lock.release();
                    });
        }
    }

    private static void queue(Protocol.Request request) throws Exception {
        try (Sessions sessions = new Sessions(1)) {
            SimpleDistributedQueue queue =
                    new SimpleDistributedQueue(sessions.of(0), request.text("path"));
            Loops.queue(request, queue::offer, queue::take);
        }
    }

    private static void queuePasses(Protocol.Request request) throws Exception {
        int clients = request.number("clients", 1);
        try (Sessions sessions = new Sessions(clients)) {
            List<Crowd.Operation> ofEach = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                SimpleDistributedQueue queue =
                        new SimpleDistributedQueue(sessions.of(i), request.text("path"));
                ofEach.add(Loops.pass(queue::offer, queue::take));
            }
            Loops.passes(request, ofEach);
        }
    }

    private static void counter(Protocol.Request request) throws Exception {
        int clients = request.number("clients", 1);
        int each = Math.max(request.number("operations", 1_000) / clients, 1);
        String path = request.text("path");
        try (Sessions sessions = new Sessions(clients)) {
            List<Thread> threads = new ArrayList<>();
            CountDownLatch go = new CountDownLatch(1);
            for (int i = 0; i < clients; i++) {
                DistributedAtomicLong value =
                        new DistributedAtomicLong(
                                sessions.of(i), path, new RetryNTimes(10_000, 0));
                value.get();
                Thread thread =
                        new Thread(
                                () -> {
                                    try {
                                        go.await();
                                        for (int k = 0; k < each; k++) {
                                            AtomicValue<Long> sum = value.increment();
                                            if (!sum.succeeded())
                                                throw new IllegalStateException("an addition failed");
                                        }
                                    } catch (Throwable problem) {
                                        Protocol.fail(problem);
                                    }
                                });
                thread.setDaemon(true);
                thread.start();
                threads.add(thread);
            }
            Protocol.phase("count");
            long began = System.nanoTime();
            go.countDown();
            for (Thread thread : threads) thread.join();
            Protocol.measured("count", (long) each * clients, began);
        }
    }

    private static void barrier(Protocol.Request request) throws Exception {
        int members = request.number("members", 10);
        String path = request.text("path");
        try (Sessions sessions = new Sessions(request.number("sessions", 1))) {
            CountDownLatch enter = new CountDownLatch(1);
            CountDownLatch inside = new CountDownLatch(members);
            CountDownLatch leave = new CountDownLatch(1);
            CountDownLatch outside = new CountDownLatch(members);
            for (int i = 0; i < members; i++) {
                CuratorFramework client = sessions.of(i);
                Thread thread =
                        new Thread(
                                () -> {
                                    try {
                                        DistributedDoubleBarrier barrier =
                                                new DistributedDoubleBarrier(client, path, members);
                                        enter.await();
                                        barrier.enter();
                                        inside.countDown();
                                        leave.await();
                                        barrier.leave();
                                        outside.countDown();
                                    } catch (Throwable problem) {
                                        Protocol.fail(problem);
                                    }
                                });
                thread.setDaemon(true);
                thread.start();
            }
            Protocol.phase("enter");
            long began = System.nanoTime();
            enter.countDown();
            inside.await();
            Protocol.measured("enter", members, began);
            Protocol.phase("leave");
            began = System.nanoTime();
            leave.countDown();
            outside.await();
            Protocol.measured("leave", members, began);
        }
    }

    /** From one session's write to the other one's cache. */
    private static void cache(Protocol.Request request) throws Exception {
        int count = request.number("operations", 500);
        String path = request.text("path");
        try (Sessions sessions = new Sessions(2)) {
            sessions.of(0).create().creatingParentsIfNeeded().forPath(path, new byte[0]);
            BlockingQueue<String> seen = new LinkedBlockingQueue<>();
            CuratorCache cache =
                    CuratorCache.build(sessions.of(1), path, CuratorCache.Options.SINGLE_NODE_CACHE);
            cache.listenable()
                    .addListener(
                            (type, before, now) -> {
                                if (now != null)
                                    seen.add(new String(now.getData(), StandardCharsets.UTF_8));
                            });
            cache.start();
            seen.take();
            long[] times = new long[count];
            Protocol.phase("changes");
            long began = System.nanoTime();
            for (int i = 0; i < count; i++) {
                String data = Integer.toString(i);
                long start = System.nanoTime();
                sessions.of(0)
                        .setData()
                        .inBackground()
                        .forPath(path, data.getBytes(StandardCharsets.UTF_8));
                while (!seen.take().equals(data)) {}
                times[i] = System.nanoTime() - start;
            }
            Protocol.measured("changes", count, began, "latencies_ns", times);
            cache.close();
        }
    }

    private static void run(Protocol.Request request) throws Exception {
        switch (request.workload) {
            case "handover":
                handover(request);
                break;
            case "uncontended":
                uncontended(request);
                break;
            case "queue":
                queue(request);
                break;
            case "queue_passes":
                queuePasses(request);
                break;
            case "turns":
                turns(request);
                break;
            case "counter":
                counter(request);
                break;
            case "barrier":
                barrier(request);
                break;
            case "cache":
                cache(request);
                break;
            default:
                throw new IllegalArgumentException("no such workload: " + request.workload);
        }
    }

    public static void main(String[] arguments) throws Exception {
        hosts = arguments[1];
        sessionTimeout = Integer.parseInt(arguments[2]);
        String version = CuratorFramework.class.getPackage().getImplementationVersion();
        Protocol.serve(arguments, version == null ? "" : version, CuratorPeer::run);
    }
}
