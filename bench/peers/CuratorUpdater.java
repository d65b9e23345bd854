// SPDX-License-Identifier: Apache-2.0
// Updates of a set under Curator's InterProcessMutex, for corozk-bench safety: it says and reads what
// bench/safety/updater.hpp describes.
//
// usage: CuratorUpdater HOSTS SESSION_TIMEOUT_MS PATH file|znode DATA GUARD NUMBER UPDATES FAULT

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

public final class CuratorUpdater {
    /** The path of the lock's node is for subclasses only. */
    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        String node() {
            return getLockPath();
        }
    }

    private final CuratorFramework client;
    private final Mutex lock;
    private final boolean inFile;
    private final String data;
    private final String guard;
    private final BufferedReader input =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private CuratorUpdater(
            CuratorFramework client, String path, boolean inFile, String data, String guard) {
        this.client = client;
        this.lock = new Mutex(client, path);
        this.inFile = inFile;
        this.data = data;
        this.guard = guard;
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** One request of a storage service at a time. */
    private FileChannel alone() throws Exception {
        FileChannel channel =
                FileChannel.open(
                        Path.of(data + ".alone-java"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
        channel.lock();
        return channel;
    }

    /** In a file, the first line is a token, which Curator's lock does not have. */
    private String read() throws Exception {
        if (!inFile) return new String(client.getData().forPath(data), StandardCharsets.UTF_8);
        try (FileChannel now = alone()) {
            if (!Files.exists(Path.of(data))) return "";
            String text = Files.readString(Path.of(data));
            return text.substring(text.indexOf('\n') + 1);
        }
    }

    /** @return how it ended */
    private String write(String text) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (inFile) {
            try (FileChannel now = alone()) {
                Files.writeString(Path.of(data), "0\n" + text + "\n");
            }
        } else if (guard.equals("check")) {
            try {
                client.transaction()
                        .forOperations(
                                client.transactionOp().check().forPath(lock.node()),
                                client.transactionOp().setData().forPath(data, bytes));
            } catch (KeeperException.NoNodeException e) {
                return "refused";
            }
        } else {
            client.setData().forPath(data, bytes);
        }
        return "added";
    }

    private String update(String element, String fault) throws Exception {
        String text = read().trim();
        Thread.sleep(2);
        if (fault.equals("before_look")) waitForFault();
        if (guard.equals("valid") && !lock.isOwnedByCurrentThread()) return "refused";
        if (fault.equals("after_look")) waitForFault();
        return write(text + " " + element);
    }

    /** It is stopped somewhere in here, or cut off. */
    private void waitForFault() throws Exception {
        say("holding");
        input.readLine();
    }

    private void acquire() throws Exception {
        for (; ; ) {
            try {
                lock.acquire();
                return;
            } catch (Exception e) {
                Thread.sleep(20);
            }
        }
    }

    private void run(String number, int updates, String fault) throws Exception {
        say("ready");
        input.readLine();
        for (int i = 0; i < updates; i++) {
            acquire();
            long granted = System.nanoTime();
            String element = number + "." + i;
            String how;
            try {
                how = update(element, i == 1 ? fault : "never");
            } catch (Exception e) {
                how = "unknown";
            }
            say(how + " " + element + " " + granted + " " + System.nanoTime());
            try {
                lock.release();
            } catch (Exception e) {
                // It goes with the session.
            }
        }
        say("done");
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client =
                CuratorFrameworkFactory.builder()
                        .connectString(arguments[0])
                        .sessionTimeoutMs(Integer.parseInt(arguments[1]))
                        .connectionTimeoutMs(15_000)
                        .retryPolicy(new ExponentialBackoffRetry(100, 10))
                        .build();
        client.start();
        client.blockUntilConnected();
        new CuratorUpdater(
                        client,
                        arguments[2],
                        arguments[3].equals("file"),
                        arguments[4],
                        arguments[5])
                .run(arguments[6], Integer.parseInt(arguments[7]), arguments[8]);
        client.close();
    }
}
