package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.state.StaleTokenException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * JUnit test cases for a guard that remembers the newest fencing token of each resource. Extend it and say how to
 * write.
 */
public abstract class GuardContract {

    private static final long OLD = FencingTokens.of(5);
    private static final long NEW = FencingTokens.of(9);

    /** For subclasses. */
    protected GuardContract() {}

    /**
     * Writes to a resource under the guard.
     *
     * @param key the resource's key
     * @param fencingToken the token of the hold that allows it
     * @return completes when it is written; {@link StaleTokenException} if a newer token was seen
     */
    protected abstract Mono<Void> write(String key, long fencingToken);

    /**
     * Writes to a resource under the guard, by one of several that share the lock.
     *
     * @param key the resource's key
     * @param fencingToken the token of the hold that allows it
     * @return as {@link #write}
     */
    protected abstract Mono<Void> writeShared(String key, long fencingToken);

    @Test
    void thoseWhoShareDoNotRefuseOneAnother() {
        String key = "shared " + UUID.randomUUID();

        Await.run(writeShared(key, NEW));
        Await.run(writeShared(key, OLD));
    }

    @Test
    void oneThatSharesIsRefusedOnceALaterHoldOfTheWholeHasWritten() {
        String key = "shared " + UUID.randomUUID();
        Await.run(write(key, OLD));
        Await.run(writeShared(key, NEW));
        Await.run(write(key, NEW));

        assertThat(Await.error(writeShared(key, OLD).toFuture()))
                .isInstanceOfSatisfying(StaleTokenException.class, refused -> {
                    assertThat(refused.fencingToken()).isEqualTo(OLD);
                    assertThat(refused.newestSeen()).isEqualTo(NEW);
                });
        Await.run(writeShared(key, NEW));
    }

    private static List<String> keys() {
        String unique = UUID.randomUUID().toString();
        return OddKeys.make((before, after) -> before + unique + after);
    }

    @Test
    void noTwoKeysShareAToken() {
        for (List<String> keys : List.of(keys(), reversed(keys()))) {
            long token = FencingTokens.of(keys.size() + 1);
            for (String key : keys) { // each with a lower token than all before it
                token -= FencingTokens.of(1);
                Await.run(write(key, token));
            }
        }
    }

    @Test
    void everyKeyRefusesAnOlderTokenThanItHasSeen() {
        List<String> keys = keys();
        keys.forEach(key -> Await.run(write(key, OLD)));
        keys.forEach(key -> Await.run(write(key, NEW)));

        for (String key : keys) {
            assertThat(Await.error(write(key, OLD).toFuture()))
                    .as(key)
                    .isInstanceOfSatisfying(StaleTokenException.class, refused -> {
                        assertThat(refused.fencingToken()).isEqualTo(OLD);
                        assertThat(refused.newestSeen()).isEqualTo(NEW);
                    });
            Await.run(write(key, NEW));
        }
    }

    private static List<String> reversed(List<String> keys) {
        List<String> reversed = new ArrayList<>(keys);
        Collections.reverse(reversed);
        return reversed;
    }
}
