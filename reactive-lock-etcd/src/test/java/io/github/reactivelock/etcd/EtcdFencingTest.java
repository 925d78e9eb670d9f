package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.testkit.OddKeys;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class EtcdFencingTest extends EtcdFixture {

    private static final ByteSequence TARGET = KeyLayout.bytes("orders/42");

    private boolean write(Cmp stillHeld) {
        return Etcds.get(etcd.getKVClient()
                        .txn()
                        .If(stillHeld)
                        .Then(Op.put(TARGET, KeyLayout.bytes("paid"), PutOption.DEFAULT))
                        .commit())
                .isSucceeded();
    }

    private Cmp held(LockHandle handle) {
        return Etcds.get(EtcdFencing.using(etcd).held(handle.key(), handle.fencingToken()));
    }

    @Test
    void aWriteGoesThroughWhileTheLockIsHeld() {
        LockHandle held = Etcds.get(client().acquire(key));
        Cmp stillHeld = held(held);

        assertThat(write(stillHeld)).isTrue();
        assertThat(write(stillHeld)).isTrue();
    }

    @Test
    void aWriteThatComesAfterTheReleaseIsRefused() {
        LockHandle held = Etcds.get(client().acquire(key));
        Cmp stillHeld = held(held);

        Etcds.get(held.release());

        assertThat(write(stillHeld)).isFalse();
        assertThat(write(held(held))).as("also if asked for too late").isFalse();
    }

    @Test
    void aWriteOfAnEarlierHolderIsRefusedWhileAnotherHoldsTheLock() {
        LockClient client = client();
        LockHandle earlier = Etcds.get(client.acquire(key));
        Cmp stillHeld = held(earlier);
        Etcds.get(client.forceRelease(key));
        LockHandle later = Etcds.get(client().acquire(key));

        assertThat(write(stillHeld)).isFalse();
        assertThat(write(held(later))).isTrue();
    }

    @Test
    void theTokenOfAnotherLockIsRefused() {
        LockHandle other = Etcds.get(client().acquire(key + "other"));

        Cmp mistaken = Etcds.get(EtcdFencing.using(etcd).held(key, other.fencingToken()));

        assertThat(write(mistaken)).isFalse();
    }

    @Test
    void oddKeysAreToldApart() {
        LockClient client = client();
        for (String odd : OddKeys.make((before, after) -> before + key + after)) {
            LockHandle held = Etcds.get(client.acquire(odd));
            Cmp stillHeld = held(held);
            assertThat(write(stillHeld)).as(odd).isTrue();

            Etcds.get(held.release());
            LockHandle next = Etcds.get(client.acquire(odd));

            assertThat(write(stillHeld)).as(odd).isFalse();
            assertThat(write(held(next))).as(odd).isTrue();
        }
    }

    @Test
    void workUnderALockCanBeFencedInOneChain() {
        EtcdFencing fencing = EtcdFencing.using(etcd);
        Mono<Boolean> work = client().withLock(
                        key,
                        held -> fencing.held(held.key(), held.fencingToken())
                                .flatMap(stillHeld -> Mono.fromFuture(() ->
                                        etcd.getKVClient().txn().If(stillHeld).commit()))
                                .map(answer -> answer.isSucceeded()));

        assertThat(Etcds.get(work)).isTrue();
    }

    @Test
    void whatIsNoTokenIsRefused() {
        assertThatThrownBy(() -> Etcds.get(EtcdFencing.using(etcd).held(key, 17)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("17");
    }
}
