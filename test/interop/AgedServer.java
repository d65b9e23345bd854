// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper server, unchanged, whose parents look as if they had had many children before: the
// first node at each path below "/aged" has this child version. Arguments: port, folder, version.

import java.io.File;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;

import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;

public class AgedServer {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        File folder = new File(arguments[1]);
        int version = Integer.parseInt(arguments[2]);
        ZooKeeperServer server =
            new ZooKeeperServer(new File(folder, "data"), new File(folder, "log"), 2000);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", port), 100);
        connections.startup(server);
        ZKDatabase nodes = server.getZKDatabase();
        Set<String> aged = new HashSet<>();
        for (;;) {
            DataNode parent = nodes.getNode("/aged");
            Set<String> names = new HashSet<>();
            if (parent != null) {
                synchronized (parent) {
                    names.addAll(parent.getChildren());
                }
            }
            for (String name : names) {
                DataNode node = nodes.getNode("/aged/" + name);
                if (node != null && aged.add(name)) {
                    synchronized (node) {
                        node.stat.setCversion(version);
                    }
                }
            }
            Thread.sleep(5);
        }
    }
}
