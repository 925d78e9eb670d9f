package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What may be used again, and what may not. */
class KeySlotsTest {

    private final KeySlots places = new KeySlots(() -> "me");

    @Test
    void aPlaceGivenBackIsTheNextToBeTaken() {
        KeySlot first = places.take("a");
        KeySlot second = places.take("a");

        assertThat(first).isNotEqualTo(second);
        assertThat(places.take("b")).isEqualTo(new KeySlot("b", "me", 0, 0));
        places.giveBack(first);
        assertThat(places.take("a")).isEqualTo(first);
        assertThat(places.take("a")).isEqualTo(new KeySlot("a", "me", 0, 2));
    }

    @Test
    void aPlaceInDoubtIsNeverUsedAgain() {
        KeySlot doubtful = places.take("a");
        KeySlot sure = places.take("a");

        places.discard(doubtful);

        KeySlot next = places.take("a");
        assertThat(next).isEqualTo(new KeySlot("a", "me", 1, 0));
        places.giveBack(sure);
        places.giveBack(doubtful);
        places.discard(sure);
        assertThat(places.take("a")).isEqualTo(new KeySlot("a", "me", 1, 1));
    }

    @Test
    void aClaimThatLeavesWhileItsKeyIsBeingPutIsNotSettled() {
        ClaimState standing = standing("put");
        assertThat(standing.bind(lease())).isNotNull();

        assertThat(standing.leave()).isFalse();

        assertThat(standing.isSettled()).isFalse();
        assertThat(standing.putAgain()).as("may be put once more").isFalse();
    }

    @Test
    void aClaimIsSettledOnceEveryPutWasAnswered() {
        ClaimState standing = standing("put");
        assertThat(standing.bind(lease())).isNotNull();
        assertThat(standing.putAgain()).isTrue();
        standing.putAnswered();
        assertThat(standing.isSettled()).as("with one of two answers").isFalse();
        standing.putAnswered();
        assertThat(standing.isSettled()).isTrue();
    }

    @Test
    void aClaimIsNotFollowedForAnotherThatHadItsPlaceBefore() {
        ClaimState standing = standing("now");
        ClaimState next = standing("next");
        assertThat(standing.isFollowedBy(next, 7)).as("before its key is seen").isFalse();
        assertThat(standing.seen(9)).isTrue();

        assertThat(standing.isFollowedBy(next, 7)).isFalse();
        assertThat(standing.successor()).isNull();
        assertThat(standing.isFollowedBy(next, 9)).isTrue();
        assertThat(standing.successor()).isSameAs(next);
    }

    @Test
    void aClaimIsFollowedUntilItsKeysDeletionIsAnswered() {
        ClaimState standing = standing("leaving");
        assertThat(standing.bind(lease())).isNotNull();
        assertThat(standing.seen(9)).isTrue();
        assertThat(standing.own(9)).isTrue();
        assertThat(standing.leave()).isTrue();

        assertThat(standing.isFollowedBy(standing("early"), 9)).isTrue();
        standing.end();
        assertThat(standing.isFollowedBy(standing("late"), 9)).isFalse();

        assertThat(standing.successor()).isNotNull();
        assertThat(standing.successor().claim.id()).isEqualTo("early");
    }

    private ClaimState standing(String id) {
        Claim claim = new Claim("a", id, "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);
        KeySlot place = places.take("a");
        return new ClaimState(
                claim, place, new KeyLayout("reactivelock").claim(place), KeyLayout.bytes("me " + id + " me"));
    }

    private static Lease lease() {
        EtcdBackendOptions options = EtcdBackendOptions.defaults();
        Etcd nowhere = new Etcd(ClientSource.of(Client.builder().endpoints("http://localhost:1"), options), options);
        return new Lease(
                1,
                Duration.ofSeconds(31),
                System.nanoTime(),
                nowhere,
                new ClaimRegistry(
                        nowhere,
                        new ClaimKeys(nowhere, new KeyLayout("x"), () -> "me"),
                        new SignalSink(nowhere, () -> KeyLayout.bytes("x"))));
    }
}
