// SPDX-License-Identifier: Apache-2.0
// The recipes in ZooKeeper's own jars, for corozk-bench: see README.md in this folder.
//
// usage: ZooKeeperPeer REQUESTS HOSTS SESSION_TIMEOUT_MS

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Version;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;
import org.apache.zookeeper.recipes.queue.DistributedQueue;

public final class ZooKeeperPeer {
    private static String hosts;
    private static int sessionTimeout;

    private ZooKeeperPeer() {}

    /** Some sessions, closed at the end. */
    private static final class Sessions implements AutoCloseable {
        final List<ZooKeeper> all = new ArrayList<>();

        Sessions(int count) throws Exception {
            CountDownLatch connected = new CountDownLatch(count);
            for (int i = 0; i < count; i++) {
                all.add(new ZooKeeper(hosts, sessionTimeout, event -> onEvent(event, connected)));
            }
            connected.await();
        }

        private static void onEvent(WatchedEvent event, CountDownLatch connected) {
            if (event.getType() != EventType.None) return;
            if (event.getState() == KeeperState.SyncConnected) connected.countDown();
            if (event.getState() == KeeperState.Disconnected
                    || event.getState() == KeeperState.Expired)
                Protocol.note("connection " + event.getState());
        }

        ZooKeeper of(int who) {
            return all.get(who % all.size());
        }

        @Override
        public void close() throws InterruptedException {
            for (ZooKeeper session : all) session.close();
        }
    }

    private static void make(ZooKeeper session, String path) throws Exception {
        try {
            session.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            return;
        }
    }

    /** Both of these recipes tell somebody, instead of waiting: one thread lets go. */
    private interface Turns {
        void start(int who) throws Exception;

        void release(int who) throws Exception;
    }

    private static void takeTurns(
            Protocol.Request request, Turns turns, BlockingQueue<long[]> granted) throws Exception {
        int waiters = request.number("waiters", 1);
        int before = request.number("before", 0);
        Crowd crowd = new Crowd(1, waiters);
        if (before == 0) {
            turns.start(0);
            granted.put(granted.take()); // it is ours
        }
        Protocol.phase("queue");
        long began = System.nanoTime();
        Thread starter =
                new Thread(
                        () -> {
                            try {
                                for (int i = 1; i <= waiters; i++) turns.start(i);
                            } catch (Throwable problem) {
                                Protocol.fail(problem);
                            }
                        });
        starter.setDaemon(true);
        starter.start();
        crowd.queued(
                List.of(request.text("path")), waiters + Math.max(before, 1), waiters, began);
        if (before > 0) return;
        Protocol.phase("drain");
        began = System.nanoTime();
        for (int i = 0; i <= waiters; i++) {
            long[] turn = granted.take();
            crowd.record(turn[1], System.nanoTime(), false);
            turns.release((int) turn[0]);
            if (turn[0] > 0) crowd.oneEnded();
        }
        crowd.drained(began);
    }

    private static void lock(Protocol.Request request) throws Exception {
        BlockingQueue<long[]> granted = new LinkedBlockingQueue<>();
        try (Sessions sessions = new Sessions(request.number("sessions", 1))) {
            make(sessions.of(0), request.text("path"));
            Set<String> nodes = new HashSet<>();
            WriteLock[] locks = new WriteLock[request.number("waiters", 1) + 1];
            takeTurns(
                    request,
                    new Turns() {
                        @Override
                        public void start(int who) throws Exception {
                            locks[who] =
                                    new WriteLock(
                                            sessions.of(who),
                                            request.text("path"),
                                            Ids.OPEN_ACL_UNSAFE,
                                            listener(who, granted));
                            locks[who].lock();
                            String id = locks[who].getId();
                            if (!nodes.add(id.substring(id.lastIndexOf('/') + 1)))
                                throw new IllegalStateException(
                                        "WriteLocks on the same session share one node: only one"
                                                + " of them is ever told");
                        }

                        @Override
                        public void release(int who) {
                            locks[who].unlock();
                        }
                    },
                    granted);
        }
    }

    private static LockListener listener(int who, BlockingQueue<long[]> granted) {
        return new LockListener() {
            @Override
            public void lockAcquired() {
                granted.add(new long[] {who, System.nanoTime()});
            }

            @Override
            public void lockReleased() {}
        };
    }

    private static void elect(Protocol.Request request) throws Exception {
        BlockingQueue<long[]> granted = new LinkedBlockingQueue<>();
        try (Sessions sessions = new Sessions(request.number("sessions", 1))) {
            make(sessions.of(0), request.text("path"));
            LeaderElectionSupport[] candidates =
                    new LeaderElectionSupport[request.number("waiters", 1) + 1];
            takeTurns(
                    request,
                    new Turns() {
                        @Override
                        public void start(int who) {
                            LeaderElectionSupport candidate = new LeaderElectionSupport();
                            candidate.setZooKeeper(sessions.of(who));
                            candidate.setRootNodeName(request.text("path"));
                            candidate.setHostName("candidate-" + who);
                            candidate.addListener(event -> onElection(event, who, granted));
                            candidates[who] = candidate;
                            candidate.start();
                        }

                        @Override
                        public void release(int who) {
                            candidates[who].stop();
                        }
                    },
                    granted);
        }
    }

    private static void onElection(
            LeaderElectionSupport.EventType event, int who, BlockingQueue<long[]> granted) {
        if (event == LeaderElectionSupport.EventType.ELECTED_COMPLETE)
            granted.add(new long[] {who, System.nanoTime()});
        if (event == LeaderElectionSupport.EventType.FAILED)
            Protocol.fail(new IllegalStateException("candidate " + who + " FAILED"));
    }

    private static void uncontended(Protocol.Request request) throws Exception {
        try (Sessions sessions = new Sessions(1)) {
            make(sessions.of(0), request.text("path"));
            WriteLock lock =
                    new WriteLock(sessions.of(0), request.text("path"), Ids.OPEN_ACL_UNSAFE);
            Loops.uncontended(
                    request,
                    () -> {
                        if (!lock.lock())
                            throw new IllegalStateException("nobody has it, but it is taken");
                        lock.unlock();
                    });
        }
    }

    private static void queue(Protocol.Request request) throws Exception {
        try (Sessions sessions = new Sessions(1)) {
            DistributedQueue queue =
                    new DistributedQueue(
                            sessions.of(0), request.text("path"), Ids.OPEN_ACL_UNSAFE);
            Loops.queue(request, queue::offer, queue::take);
        }
    }

    private static void run(Protocol.Request request) throws Exception {
        switch (request.workload) {
            case "handover":
                if (request.text("kind").equals("election")) {
                    elect(request);
                } else {
                    lock(request);
                }
                break;
            case "uncontended":
                uncontended(request);
                break;
            case "queue":
                queue(request);
                break;
            default:
                throw new IllegalArgumentException("no such workload: " + request.workload);
        }
    }

    public static void main(String[] arguments) throws Exception {
        hosts = arguments[1];
        sessionTimeout = Integer.parseInt(arguments[2]);
        Protocol.serve(arguments, Version.getVersion(), ZooKeeperPeer::run);
    }
}
