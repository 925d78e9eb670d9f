package io.github.reactivelock.consul;

import io.github.reactivelock.testservers.LocksMeanwhile;
import org.junit.jupiter.api.Test;

/** A Consul that is read out, as {@code consul snapshot save} does it. */
class BackupTest extends Fixture {

    @Test
    void snapshotsOfConsulCostTheLocksNothing() throws Exception {
        LocksMeanwhile.areServed(client(), client(), () -> server.ask("GET", "snapshot", ""));
    }
}
