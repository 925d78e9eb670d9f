package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class RandomKeysTest {

    @Test
    void theyAreDifferentAndFitAndHaveAnEncoding() {
        RandomKeys random = new RandomKeys();

        List<String> keys = random.make(2_000, (before, after) -> before + "|" + after);

        assertThat(keys).as("%s", random).hasSize(2_000).allSatisfy(key -> {
            assertThat(key.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(512);
            assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(key)).isTrue();
        });
    }

    @Test
    void theContractTriesThem() {
        InMemoryLockBackend store = InMemoryLockBackend.create();
        LockBackendContract contract = new LockBackendContract() {
            @Override
            protected LockBackend newBackend() {
                return store.connect();
            }
        };
        KeyCases cases = contract.new Keys();

        cases.randomKeysDoNotCollideAndComeBackWhole();

        cases.nothingIsLeft();
    }
}
