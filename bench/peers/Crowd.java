// SPDX-License-Identifier: Apache-2.0
// Many contenders for one thing, and the times at which each got it and began to give it back.

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

final class Crowd {
    /** Waits until it has it; gives it back. */
    interface Contender {
        void acquire() throws Exception;

        void release() throws Exception;

        default boolean shared() {
            return false;
        }
    }

    interface Maker {
        Contender make(int who) throws Exception;
    }

    private final int holders;
    private final int waiters;
    private final int hold; // so many milliseconds each keeps it
    private final long[] grants; // granted, released, shared: of each
    private final AtomicInteger next = new AtomicInteger();
    private final CountDownLatch ended;
    private volatile boolean over; // what happens from here on does not matter

    Crowd(int holders, int waiters) {
        this(holders, waiters, 0);
    }

    Crowd(int holders, int waiters, int hold) {
        this(holders, waiters, hold, holders + waiters);
    }

    private Crowd(int holders, int waiters, int hold, int turns) {
        this.holders = holders;
        this.waiters = waiters;
        this.hold = hold;
        grants = new long[3 * turns];
        ended = new CountDownLatch(waiters);
    }

    /** Of which each has so many turns. */
    static Crowd inTurns(int contenders, int each) {
        return new Crowd(0, contenders, 0, contenders * each);
    }

    /** A contender's turn; it does not matter in which order they are written down. */
    void record(long granted, long released, boolean shared) {
        int at = 3 * next.getAndIncrement();
        grants[at] = granted;
        grants[at + 1] = released;
        grants[at + 2] = shared ? 1 : 0;
    }

    void oneEnded() {
        ended.countDown();
    }

    /** A thread for each: all queue while it is held, then it is passed on. */
    void run(Maker maker, List<String> folders, int nodesBefore, int watches) throws Exception {
        Contender[] first = new Contender[holders];
        long[] granted = new long[holders];
        for (int i = 0; i < holders; i++) {
            first[i] = maker.make(0);
            first[i].acquire();
            granted[i] = System.nanoTime();
        }
        Protocol.phase("queue");
        long began = System.nanoTime();
        for (int i = 1; i <= waiters; i++) {
            Contender contender = maker.make(i);
            Thread thread = new Thread(() -> takeATurn(contender));
            thread.setDaemon(true);
            thread.start();
        }
        queued(folders, nodesBefore + waiters, watches, began);
        over = holders == 0;
        if (over) return;
        Protocol.phase("drain");
        began = System.nanoTime();
        for (int i = 0; i < holders; i++) {
            long released = System.nanoTime();
            record(granted[i], released, first[i].shared());
            first[i].release();
        }
        drained(began);
    }

    /** All have begun: the other side knows when they have queued. */
    void queued(List<String> folders, int nodes, int watches, long began) throws Exception {
        Protocol.say(
                "event", "started", "folders", folders, "nodes", nodes, "watches", watches);
        Protocol.expect("settled");
        long at = System.nanoTime();  // looking at the memory takes long
        Protocol.measuredUntil("queue", waiters, began, at, "memory_bytes", Protocol.memory());
    }

    void drained(long began) throws Exception {
        ended.await();
        Protocol.measured("drain", waiters, began, "grants_ns", grants);
    }

    /** A thread for each: acquires and releases so many times; all begin at the same time. */
    void takeTurns(Maker maker, int each) throws Exception {
        long[] waits = new long[waiters * each];
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < waiters; i++) {
            int first = i * each;
            Contender contender = maker.make(i);
            start(
                    () -> {
                        go.await();
                        for (int k = 0; k < each; k++) {
                            long asked = System.nanoTime();
                            contender.acquire();
                            long granted = System.nanoTime();
                            waits[first + k] = granted - asked;
                            record(granted, System.nanoTime(), contender.shared());
                            contender.release();
                        }
                        ended.countDown();
                    });
        }
        Protocol.phase("turns");
        long began = System.nanoTime();
        go.countDown();
        ended.await();
        Protocol.measured("turns", waits.length, began, "grants_ns", grants, "latencies_ns", waits);
    }

    /** So many operations by so many threads. */
    static void work(int operations, int threads, Operation operation) throws Exception {
        work(operations, Collections.nCopies(threads, operation));
    }

    /** The same by a thread for each of these. */
    static void work(int operations, List<Operation> ofEach) throws Exception {
        AtomicInteger started = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(ofEach.size());
        for (Operation operation : ofEach) {
            start(
                    () -> {
                        while (started.getAndIncrement() < operations) operation.run();
                        ended.countDown();
                    });
        }
        ended.await();
    }

    private static void start(Operation work) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (Throwable problem) {
                                Protocol.fail(problem);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
    }

    /** One of many of the same. */
    interface Operation {
        void run() throws Exception;
    }

    private void takeATurn(Contender contender) {
        try {
            contender.acquire();
            long granted = System.nanoTime();
            if (hold > 0) Thread.sleep(hold);
            record(granted, System.nanoTime(), contender.shared());
            contender.release();
            ended.countDown();
        } catch (Throwable problem) {
            if (!over) Protocol.fail(problem);
        }
    }
}
