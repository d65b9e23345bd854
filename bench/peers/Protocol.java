// SPDX-License-Identifier: Apache-2.0
// How the peers' Java programs talk with corozk-bench: see README.md in this folder.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

final class Protocol {
    private static BufferedReader input;
    private static final PrintStream output = System.out;
    private static final AtomicBoolean failed = new AtomicBoolean();

    private Protocol() {}

    /** One request: a name, and what it says besides. */
    static final class Request {
        final String workload;
        private final Map<String, String> values = new HashMap<>();

        Request(String line) {
            String[] words = line.trim().split(" +");
            workload = words[0];
            for (int i = 1; i < words.length; i++) {
                int at = words[i].indexOf('=');
                values.put(words[i].substring(0, at), words[i].substring(at + 1));
            }
        }

        String text(String name) {
            String value = values.get(name);
            if (value == null) throw new IllegalArgumentException(workload + ": no " + name + "=");
            return value;
        }

        String text(String name, String otherwise) {
            return values.getOrDefault(name, otherwise);
        }

        int number(String name, int otherwise) {
            return Integer.parseInt(text(name, Integer.toString(otherwise)));
        }
    }

    /** What answers requests. */
    interface Peer {
        void run(Request request) throws Exception;
    }

    /** Serves until the other side goes away: the first argument is where the requests come from. */
    static void serve(String[] arguments, String version, Peer peer) throws Exception {
        input =
                new BufferedReader(
                        new InputStreamReader(
                                new FileInputStream(arguments[0]),
                                StandardCharsets.UTF_8));
        say("event", "ready", "version", version);
        for (String line; (line = input.readLine()) != null; ) {
            Request request = new Request(line);
            if (request.workload.equals("quit")) break;
            try {
                peer.run(request);
                say("event", "done");
            } catch (Throwable problem) {
                fail(problem);
            }
        }
        // Sessions and threads may be in any state: they go with the process.
        output.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Says once what went wrong; the other side then ends this process. */
    static void fail(Throwable problem) {
        if (!failed.compareAndSet(false, true)) return;
        String text = problem.getClass().getSimpleName();
        if (problem.getMessage() != null) text += ": " + problem.getMessage();
        say("event", "failure", "what", text);
    }

    static void note(String what) {
        say("event", "note", "what", what);
    }

    static void expect(String word) throws IOException {
        String line = input.readLine();
        if (line == null) Runtime.getRuntime().halt(1);
        if (!line.equals(word)) throw new IOException("'" + word + "' was due, not '" + line + "'");
    }

    /** What comes now is measured. */
    static void phase(String name) throws IOException {
        say("event", "phase", "name", name, "memory_bytes", memory());
        expect("go");
    }

    static void measured(String name, long operations, long beganNs, Object... more) {
        measuredUntil(name, operations, beganNs, System.nanoTime(), more);
    }

    static void measuredUntil(
            String name, long operations, long beganNs, long endedNs, Object... more) {
        double seconds = (endedNs - beganNs) / 1e9;
        Object[] all = new Object[8 + more.length];
        Object[] first = {
            "event", "measured", "name", name, "operations", operations, "seconds", seconds
        };
        System.arraycopy(first, 0, all, 0, 8);
        System.arraycopy(more, 0, all, 8, more.length);
        say(all);
    }

    /** Resident memory, less what Java's heap has free after a collection. */
    static long memory() {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        long resident = 0;
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    resident = Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return resident - (heap.getCommitted() - heap.getUsed());
    }

    /** Names and values in turn, as a line of JSON. */
    static void say(Object... pairs) {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < pairs.length; i += 2) {
            if (i > 0) text.append(',');
            append(text, pairs[i]);
            text.append(':');
            append(text, pairs[i + 1]);
        }
        text.append('}');
        synchronized (output) {
            output.println(text);
            output.flush();
        }
    }

    private static void append(StringBuilder text, Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof long[]) {
            text.append('[');
            String comma = "";
            for (long each : (long[]) value) {
                text.append(comma).append(each);
                comma = ",";
            }
            text.append(']');
        } else if (value instanceof Collection) {
            text.append('[');
            String comma = "";
            for (Object each : (Collection<?>) value) {
                text.append(comma);
                append(text, each);
                comma = ",";
            }
            text.append(']');
        } else {
            appendText(text, value.toString());
        }
    }

    private static void appendText(StringBuilder text, String value) {
        text.append('"');
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
