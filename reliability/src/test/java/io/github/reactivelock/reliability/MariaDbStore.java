package io.github.reactivelock.reliability;

import io.github.reactivelock.testservers.MariaDbServer;
import java.util.List;

/** One MariaDB that writes down what it did before it answers. */
final class MariaDbStore extends SqlStore {

    // The test kit's default, 0, gives up commits that were answered when the server is killed.
    final MariaDbServer server = MariaDbServer.start("--innodb-flush-log-at-trx-commit=2");

    MariaDbStore() {
        super("CONVERT(lock_key USING utf8mb4)");
        createTables();
    }

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        return "r2dbc:mariadb://root@127.0.0.1:" + ports.get(0) + "/mysql";
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    public void close() {
        super.close();
        server.close();
    }
}
