package io.github.reactivelock.reliability;

import io.github.reactivelock.testservers.PostgresServer;
import java.util.List;

/** One PostgreSQL that writes down what it did before it answers. */
final class PostgresStore extends SqlStore {

    private static final String BREAK_LISTENERS =
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";

    // The test kit's default, off, gives up commits that were answered when the server is killed.
    final PostgresServer server = PostgresServer.start("-c", "synchronous_commit=on");

    PostgresStore() {
        super("convert_from(lock_key, 'UTF8')");
        createTables();
    }

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        return "r2dbc:postgresql://postgres@127.0.0.1:" + ports.get(0) + "/postgres";
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
    void breakPushes(Way unused) {
        select(BREAK_LISTENERS);
    }

    @Override
    public void close() {
        super.close();
        server.close();
    }
}
