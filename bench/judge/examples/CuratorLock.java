// SPDX-License-Identifier: Apache-2.0
//
// Curator's InterProcessMutex as corozk-bench judges it. With Debian's packages
// libcurator-recipes-java and default-jdk-headless, in bench/judge/examples:
//
// jars=$(printf ':/usr/share/java/%s.jar' curator-recipes curator-framework curator-client guava \
//     zookeeper zookeeper-jute slf4j-api slf4j-nop)
// javac -cp "$jars" -d /tmp/judged CuratorLock.java
// corozk-bench judge --waiters 10 -- java -cp "/tmp/judged$jars" CuratorLock

import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public final class CuratorLock {
    private CuratorLock() {}

    private static void say(String word) {
        System.out.println(word);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in));
        try (CuratorFramework client =
                CuratorFrameworkFactory.builder()
                        .connectString(System.getenv("COROZK_BENCH_HOSTS"))
                        .sessionTimeoutMs(
                                Integer.parseInt(
                                        System.getenv("COROZK_BENCH_SESSION_TIMEOUT_MS")))
                        .retryPolicy(new ExponentialBackoffRetry(1_000, 3))
                        .build()) {
            client.start();
            client.blockUntilConnected();
            InterProcessMutex lock =
                    new InterProcessMutex(client, System.getenv("COROZK_BENCH_PATH"));
            say("waiting");
            lock.acquire();
            say("holding");
            told.readLine(); // "release"
            lock.release();
            say("released");
            told.readLine(); // to the end: closing would be counted with the hand-over
        }
    }
}
