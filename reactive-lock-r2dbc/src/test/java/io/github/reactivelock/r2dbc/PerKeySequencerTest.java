package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class PerKeySequencerTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final PerKeySequencer lanes = new PerKeySequencer(LIMIT);

    @Test
    void aCommandThatThrowsAnErrorFailsAndItsLaneGoesOn() {
        Sinks.One<String> first = Sinks.one();
        CompletableFuture<String> before = lanes.inTurn("k", first.asMono()).toFuture();
        CompletableFuture<String> broken = lanes.inTurn("k", Mono.<String>fromRunnable(() -> {
                    throw new NoClassDefFoundError("gone");
                }))
                .toFuture();
        CompletableFuture<String> next = lanes.inTurn("k", Mono.just("next")).toFuture();

        first.tryEmitValue("first").orThrow();

        assertThat(before).succeedsWithin(LIMIT).isEqualTo("first");
        assertThat(broken).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(NoClassDefFoundError.class);
        assertThat(next).succeedsWithin(LIMIT).isEqualTo("next");
        assertThat(lanes.inTurn("k", Mono.just("later")).block(LIMIT)).isEqualTo("later");
    }
}
