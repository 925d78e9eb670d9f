package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.github.reactivelock.testservers.LocksMeanwhile;
import java.io.OutputStream;
import org.junit.jupiter.api.Test;

/** An etcd that is read out, as {@code etcdctl snapshot save} does it. */
class BackupTest extends EtcdFixture {

    private static final int MEGABYTE = 1 << 20;

    @Test
    void snapshotsOfEtcdCostTheLocksNothing() throws Exception {
        for (int i = 0; i < 8; i++) {
            Etcds.get(etcd.getKVClient().put(KeyLayout.bytes("filler " + i), ByteSequence.from(new byte[MEGABYTE])));
        }

        LocksMeanwhile.areServed(
                client(),
                client(),
                () -> Etcds.get(etcd.getMaintenanceClient().snapshot(OutputStream.nullOutputStream())));
    }
}
