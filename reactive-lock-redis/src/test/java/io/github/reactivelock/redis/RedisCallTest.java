package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisCallTest {

    private static final class Call extends RedisCall {
        Call(String key, String verb) {
            super(RedisScript.lock(), List.of(key), List.of(verb, "a claim"));
        }
    }

    private final Call first = new Call("a", "claim");

    @Test
    void callsAboutSingleLocksOfOneSlotJoin() {
        assertThat(new Call("b", "release").joins(List.of(first), RedisCallTest::oneSlot))
                .isTrue();
        assertThat(new Call("b", "release").joins(List.of(first), String::hashCode))
                .isFalse();
        assertThat(new Call("b", "renew").joins(List.of(first), RedisCallTest::oneSlot))
                .isFalse();
        assertThat(first.joins(List.of(new Call("b", "renew")), RedisCallTest::oneSlot))
                .isFalse();
    }

    @Test
    void aBatchHasAnEnd() {
        List<Call> before = Collections.nCopies(RedisBatch.MOST_CALLS - 1, first);

        assertThat(first.joins(before, RedisCallTest::oneSlot)).isTrue();
        assertThat(first.joins(Collections.nCopies(RedisBatch.MOST_CALLS, first), RedisCallTest::oneSlot))
                .isFalse();
    }

    @Test
    void aCallThatCannotBeExaminedGoesAlone() {
        assertThat(new Call("b", "claim").joins(List.of(first), key -> {
                    throw new NoClassDefFoundError("planted");
                }))
                .isFalse();
    }

    @Test
    void aSingleCallIsSentAsItIsAndSeveralAsABatch() {
        RedisBatch one = RedisBatch.of(List.of(first));
        RedisBatch two = RedisBatch.of(List.of(first, new Call("b", "release")));

        assertThat(one.keys()).containsExactly("a");
        assertThat(one.args()).containsExactly("claim", "a claim");
        assertThat(two.keys()).containsExactly("a", "b");
        assertThat(two.args()).containsExactly("batch", "1", "claim", "a claim", "1", "release", "a claim");
    }

    @Test
    void aCallerThatThrowsDoesNotStopTheOthers() {
        assertThatCode(() -> first.tell(() -> {
                    throw new NoClassDefFoundError("planted");
                }))
                .doesNotThrowAnyException();
    }

    private static int oneSlot(String key) {
        return 0;
    }
}
