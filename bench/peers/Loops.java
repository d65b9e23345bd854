// SPDX-License-Identifier: Apache-2.0
// Workloads that are the same for every library's recipe.

import java.nio.charset.StandardCharsets;
import java.util.List;

final class Loops {
    private static final byte[] ITEM = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);

    private Loops() {}

    /** One lock that nobody else wants, acquired and released again and again. */
    static void uncontended(Protocol.Request request, Crowd.Operation cycle) throws Exception {
        int count = request.number("operations", 1_000);
        long[] cycles = new long[count];
        Protocol.phase("cycles");
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            cycle.run();
            cycles[i] = System.nanoTime() - start;
        }
        Protocol.measured("cycles", count, began, "latencies_ns", cycles);
    }

    interface Put {
        void run(byte[] item) throws Exception;
    }

    /** All items are put, and then all are taken. */
    static void queue(Protocol.Request request, Put put, Crowd.Operation take) throws Exception {
        int count = request.number("items", 1_000);
        int workers = request.number("workers", 1);
        Protocol.phase("put");
        long began = System.nanoTime();
        Crowd.work(count, workers, () -> put.run(ITEM));
        Protocol.measured("put", count, began);
        Protocol.phase("take");
        began = System.nanoTime();
        Crowd.work(count, workers, take);
        Protocol.measured("take", count, began);
    }

    /** Each of these puts an item and takes one, again and again. */
    static void passes(Protocol.Request request, List<Crowd.Operation> ofEach) throws Exception {
        int count = request.number("items", 1_000);
        Protocol.phase("pass");
        long began = System.nanoTime();
        Crowd.work(count, ofEach);
        Protocol.measured("pass", count, began);
    }

    static Crowd.Operation pass(Put put, Crowd.Operation take) {
        return () -> {
            put.run(ITEM);
            take.run();
        };
    }
}
