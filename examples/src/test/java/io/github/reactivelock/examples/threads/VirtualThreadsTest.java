package io.github.reactivelock.examples.threads;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class VirtualThreadsTest {

    @Test
    void threadsThatBlockExcludeOneAnotherAndALossInterruptsOne() throws Exception {
        boolean virtual = Runtime.version().feature() >= 21;

        RunningExample threads = RunningExample.run(VirtualThreads.class, "--demo");

        assertThat(threads.exit()).as(threads.text()).isZero();
        assertThat(threads.text())
                .contains(virtual ? "each of 1000 virtual threads" : "has no virtual threads")
                .containsSubsequence(
                        "without a lock: sold=",
                        virtual
                                ? "with a lock: sold=1000 counted=1000 most-at-once=1"
                                : "with a lock: sold=100 counted=100 most-at-once=1",
                        "  its thread is interrupted",
                        "  its caller gets LockLostException: FORCED, token ")
                .doesNotContain("INFO");
    }
}
