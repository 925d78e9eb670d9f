package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisRepliesTest {

    private static final Claim CLAIM =
            new Claim("a", "AAAAAAAAAAAAAAAAAAAAAA", "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);

    private final KeyLayout names = new KeyLayout("reactivelock", 0);

    @Test
    void theEnginesBitsAreAddedToTheStoresToken() {
        assertThat(RedisReplies.claim(CLAIM, List.of(5L)))
                .isEqualTo(new ClaimResult.Granted(5L << 12, Duration.ofSeconds(30)));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1L << 51, Long.MAX_VALUE})
    void aCounterThatLeavesNoRoomIsAnErrorAndNotAWrongToken(long token) {
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisReplies.claim(CLAIM, List.of(token)))
                .withMessageContaining("token counter");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1L << 51, Long.MAX_VALUE})
    void aVoteForACounterThatLeavesNoRoomIsAnErrorAsWell(long token) {
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisReplies.vote(CLAIM, List.of(1L, token, "run", 9L, -1L)))
                .withMessageContaining("token counter");
    }

    @Test
    void anAnswerOfAnUnknownFormIsAnError() {
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.vote(CLAIM, List.of(9L)));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.claim(CLAIM, List.of()));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.claim(CLAIM, List.of(0L, "1")));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.claim(CLAIM, List.of("1")));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.vote(CLAIM, List.of(1L, 7L)));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.info("a", List.of(0L, 7L)));
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.only(List.of()));
    }

    @Test
    void aNumberThatOnlyEndsLikeAConfirmationConfirmsNothing() {
        long ending = (1L << 32) + 1;
        assertThatIllegalStateException().isThrownBy(() -> RedisReplies.renewal(List.of(CLAIM), List.of(ending)));
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisReplies.vote(CLAIM, List.of(ending, 7L, "run", 9L, -1L)));
    }

    @Test
    void everySignalIsRead() {
        assertThat(RedisReplies.signal(names, "grant AAAAAAAAAAAAAAAAAAAAAA 7"))
                .isEqualTo(new Signal.Grant("AAAAAAAAAAAAAAAAAAAAAA", 7L << 12));
        assertThat(RedisReplies.signal(names, "recheck {reactivelock:%7D\u00a0x}"))
                .isEqualTo(new Signal.Recheck("}\u00a0x"));
        assertThat(RedisReplies.signal(names, "forced AAAAAAAAAAAAAAAAAAAAAA"))
                .isEqualTo(new Signal.Suspect("AAAAAAAAAAAAAAAAAAAAAA", LossReason.FORCED));
        assertThat(RedisReplies.signal(names, "recall AAAAAAAAAAAAAAAAAAAAAA"))
                .isEqualTo(new Signal.Recall("AAAAAAAAAAAAAAAAAAAAAA"));
    }

    @Test
    void thatAClaimCanBeCalledBackIsNoPartOfItsName() {
        String kept = RedisReplies.recallable("me");
        assertThat(RedisReplies.event("a", "acquired 7 " + kept))
                .isEqualTo(new LockEvent.Acquired("a", "me", 7L << 12));
        assertThat(RedisReplies.info("a", List.of(0L, 7L, 1_000L, 1L, kept, 5L, kept, 5L)))
                .isInstanceOfSatisfying(LockInfo.Held.class, held -> {
                    assertThat(held.recallable()).isTrue();
                    assertThat(held.owner()).isEqualTo("me");
                    assertThat(held.queue().get(0).owner()).isEqualTo("me");
                });
    }

    @Test
    void everyEventIsRead() {
        assertThat(RedisReplies.event("a", "released 7")).isEqualTo(new LockEvent.Released("a", 7L << 12));
        assertThat(RedisReplies.event("a", "acquired 7 host a\nb"))
                .isEqualTo(new LockEvent.Acquired("a", "host a\nb", 7L << 12));
        assertThat(RedisReplies.event("a", "acquired 7 ")).isEqualTo(new LockEvent.Acquired("a", "", 7L << 12));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "grant",
                "grant x",
                "grant x 0",
                "grant x -1",
                "grant x 9999999999999999",
                "grant x 99999999999999999999999",
                "grant x 1 ",
                "grant  1",
                "GRANT x 1",
                "forced",
                "forced x y",
                "recheck a",
                "recheck {reactivelock:%41}",
                "recheck {other:a}",
                "released",
                "released x",
                "released 9999999999999999",
                "acquired x y",
                "acquired 1",
                "\0\uffff"
            })
    void anythingElseIsNothing(String message) {
        assertThat(RedisReplies.signal(names, message)).isNull();
        assertThat(RedisReplies.event("a", message)).isNull();
    }
}
