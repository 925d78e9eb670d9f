package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testkit.OddKeys;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class EtcdFencingGuardTest extends EtcdFixture {

    private ByteSequence target = ByteSequence.EMPTY;
    private EtcdFencingGuard guard;

    @BeforeEach
    void guardAnOrder() {
        target = KeyLayout.bytes("orders/" + UUID.randomUUID());
        guard = backend().fencingGuard();
    }

    private Mono<TxnResponse> write(LockHandle held, String value) {
        return guard.write(held.key(), held.fencingToken(), Op.put(target, KeyLayout.bytes(value), PutOption.DEFAULT));
    }

    private String written() {
        return Etcds.get(etcd.getKVClient().get(target, GetOption.DEFAULT)).getKvs().stream()
                .map(kv -> kv.getValue().toString(StandardCharsets.UTF_8))
                .findFirst()
                .orElse("");
    }

    private void assertRefused(Mono<?> write, LockHandle held, long newest) {
        assertThatThrownBy(() -> Etcds.get(write)).isInstanceOfSatisfying(StaleTokenException.class, refused -> {
            assertThat(refused.fencingToken()).isEqualTo(held.fencingToken());
            assertThat(refused.newestSeen()).isEqualTo(newest);
        });
    }

    @Test
    void aWriteGoesThroughWhileTheLockIsHeld() {
        LockHandle held = Etcds.get(client().acquire(key));

        assertThat(Etcds.get(write(held, "paid")).isSucceeded()).isTrue();
        assertThat(Etcds.get(write(held, "sent")).isSucceeded()).isTrue();
        assertThat(written()).isEqualTo("sent");
    }

    @Test
    void aWriteThatComesAfterTheReleaseIsRefused() {
        LockHandle held = Etcds.get(client().acquire(key));
        Etcds.get(held.release());

        assertRefused(write(held, "late"), held, held.fencingToken() + 4096);
        assertThat(written()).isEmpty();
    }

    @Test
    void aWriteOfAnEarlierHolderIsRefusedWhileAnotherHoldsTheLock() {
        LockClient client = client();
        LockHandle earlier = Etcds.get(client.acquire(key));
        Etcds.get(client.forceRelease(key));
        LockHandle later = Etcds.get(client().acquire(key));
        Etcds.get(write(later, "by the later one"));

        assertRefused(write(earlier, "late"), earlier, later.fencingToken());
        assertThat(written()).isEqualTo("by the later one");
    }

    @Test
    void sharersDoNotRefuseOneAnotherAndAreRefusedAfterTheirOwnRelease() {
        LockHandle one = Etcds.get(client().shared().acquire(key));
        LockHandle two = Etcds.get(client().shared().acquire(key));

        Etcds.get(write(two, "by the second"));
        Etcds.get(write(one, "by the first"));
        Etcds.get(one.release());

        assertThatThrownBy(() -> Etcds.get(write(one, "late"))).isInstanceOf(StaleTokenException.class);
        Etcds.get(write(two, "by the second"));
    }

    @Test
    void theTokenOfAnotherLockIsRefused() {
        LockHandle other = Etcds.get(client().acquire(key + "other"));

        assertThatThrownBy(() -> Etcds.get(guard.write(key, other.fencingToken())))
                .isInstanceOf(StaleTokenException.class);
    }

    @Test
    void oddKeysAreToldApart() {
        LockClient client = client();
        for (String odd : OddKeys.make((before, after) -> before + key + after)) {
            LockHandle held = Etcds.get(client.acquire(odd));
            Etcds.get(write(held, odd));
            Etcds.get(held.release());
            LockHandle next = Etcds.get(client.acquire(odd));

            assertRefused(write(held, "late"), held, next.fencingToken());
            Etcds.get(write(next, odd));
        }
    }

    /** For those who have something else to compare as well. */
    @Test
    void aCompareIsTrueForAsLongAsTheHold() {
        LockHandle held = Etcds.get(client().acquire(key));
        Cmp stillHeld = Etcds.get(guard.held(key, held.fencingToken()));
        Cmp isNew = new Cmp(target, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
        assertThat(succeeds(stillHeld, isNew)).isTrue();

        Etcds.get(held.release());

        assertThat(succeeds(stillHeld, isNew)).isFalse();
        assertThat(succeeds(Etcds.get(guard.held(key, held.fencingToken()))))
                .as("asked for too late")
                .isFalse();
    }

    private boolean succeeds(Cmp... compares) {
        return Etcds.get(etcd.getKVClient().txn().If(compares).commit()).isSucceeded();
    }

    @Test
    void workUnderALockCanBeFencedInOneChain() {
        Mono<TxnResponse> work = client().withLock(key, held -> write(held, "paid"));

        assertThat(Etcds.get(work).isSucceeded()).isTrue();
    }

    @Test
    void whatIsNoTokenIsRefused() {
        assertThatThrownBy(() -> guard.write(key, 17))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("17");
    }
}
