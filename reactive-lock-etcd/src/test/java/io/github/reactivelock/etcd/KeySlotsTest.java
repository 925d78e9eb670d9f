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
        ClaimState state = state("put");
        assertThat(state.bind(lease())).isNotNull();

        assertThat(state.leave()).isFalse();

        assertThat(state.isSettled()).isFalse();
        assertThat(state.putAgain()).as("may be put once more").isFalse();
    }

    @Test
    void aClaimIsSettledOnceEveryPutWasAnswered() {
        ClaimState state = state("put");
        assertThat(state.bind(lease())).isNotNull();
        assertThat(state.putAgain()).isTrue();
        state.putAnswered();
        assertThat(state.isSettled()).as("with one of two answers").isFalse();
        state.putAnswered();
        assertThat(state.isSettled()).isTrue();
    }

    @Test
    void aClaimIsNotFollowedForAnotherThatHadItsPlaceBefore() {
        ClaimState state = state("now");
        ClaimState next = state("next");
        assertThat(state.isFollowedBy(next, 7)).as("before its key is seen").isFalse();
        assertThat(state.seen(9)).isTrue();

        assertThat(state.isFollowedBy(next, 7)).isFalse();
        assertThat(state.successor()).isNull();
        assertThat(state.isFollowedBy(next, 9)).isTrue();
        assertThat(state.successor()).isSameAs(next);
    }

    @Test
    void aClaimIsFollowedUntilItsKeysDeletionIsAnswered() {
        ClaimState state = state("leaving");
        assertThat(state.bind(lease())).isNotNull();
        assertThat(state.seen(9)).isTrue();
        assertThat(state.own(9)).isTrue();
        assertThat(state.leave()).isTrue();

        assertThat(state.isFollowedBy(state("early"), 9)).isTrue();
        state.closeNews();
        assertThat(state.isFollowedBy(state("late"), 9)).isFalse();

        assertThat(state.successor()).isNotNull();
        assertThat(state.successor().claim.id()).isEqualTo("early");
    }

    private ClaimState state(String id) {
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
