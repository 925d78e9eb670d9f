package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Which claims are called back, by what was read of a queue. */
class KeyQueueTest {

    private static final KeyLayout NAMES = new KeyLayout("reactivelock");

    private static ByteSequence recallable(int number) {
        return KeyLayout.recallable(NAMES.claim(new KeySlot("a", "session", 0, number)));
    }

    private static KeyValue made(int number, long revision, long version) {
        return new KeyValue(
                io.etcd.jetcd.api.KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8(recallable(number).toString()))
                        .setCreateRevision(revision)
                        .setVersion(version)
                        .build(),
                ByteSequence.EMPTY);
    }

    private static ClaimState claim(int number) {
        Claim claim = new Claim("a", "id" + number, "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);
        return new ClaimState(claim, new KeySlot("a", "session", 0, number), recallable(number), ByteSequence.EMPTY);
    }

    private static KeyQueue.Index read(long readAt, boolean isPart, KeyValue... oldestFirst) {
        return KeyQueue.of(Arrays.asList(oldestFirst)).index(readAt, isPart);
    }

    @Test
    void onlyAnOwnerIsCalledBackByTheOneDirectlyBehindIt() {
        KeyValue first = made(1, 11, 1);
        KeyValue second = made(2, 12, 1);
        KeyValue third = made(3, 13, 1);

        assertThat(read(12, false, first, second).positionOf(claim(2), 12).recallable())
                .isEqualTo(first);
        assertThat(read(13, false, first, second, third)
                        .positionOf(claim(3), 13)
                        .recallable())
                .isNull();
        assertThat(read(13, true, second, third).positionOf(claim(3), 13).recallable())
                .isNull();
        assertThat(read(12, false, made(1, 11, 2), second)
                        .positionOf(claim(2), 12)
                        .recallable())
                .as("left to a claim that is kept")
                .isNull();
    }

    @Test
    void anOwnerBehindWhichOthersMayHaveComeUnseenIsCalledBackByItself() {
        KeyValue own = made(1, 11, 1);

        assertThat(read(11, false, own).positionOf(claim(1), 11).recallable()).isNull();
        assertThat(read(12, false, own).positionOf(claim(1), 11).recallable()).isEqualTo(own);
    }

    @Test
    void aTryJoinsNoQueueInWhichAnotherWaits() {
        KeyValue first = made(1, 11, 1);

        assertThat(read(12, false, first).canBeCalledBack()).isTrue();
        assertThat(read(12, true, first).canBeCalledBack()).isFalse();
        assertThat(read(12, false, first, made(2, 12, 1)).canBeCalledBack()).isFalse();
        assertThat(read(12, false, made(1, 11, 2)).canBeCalledBack()).isFalse();
        assertThat(read(12, false).canBeCalledBack()).isFalse();
    }
}
