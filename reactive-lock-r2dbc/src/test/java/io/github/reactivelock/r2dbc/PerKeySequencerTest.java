package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

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

    @Test
    void aFailureAfterAPauseOfTheProcessFailsNoClaimThatWaits() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        AtomicLong paused = new AtomicLong();
        SilenceClock silenceClock = new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS) + paused.get(), timer);
        Disposable deadline = silenceClock.count();
        PerKeySequencer brief = new PerKeySequencer(Duration.ofSeconds(2), silenceClock);
        Sinks.One<String> first = Sinks.one();
        Sinks.One<String> second = Sinks.one();
        CompletableFuture<String> before = brief.inTurn("k", first.asMono()).toFuture();
        CompletableFuture<String> next =
                brief.claim(Databases.claim("k"), second.asMono()).toFuture();
        CompletableFuture<String> last =
                brief.claim(Databases.claim("k"), Mono.just("last")).toFuture();

        timer.advanceTimeBy(Duration.ofSeconds(1));
        paused.addAndGet(Duration.ofSeconds(5).toNanos());
        first.tryEmitError(new IllegalStateException("no answer")).orThrow();
        assertThat(before).isCompletedExceptionally();
        assertThat(next).isNotDone();
        assertThat(last).isNotDone();

        timer.advanceTimeBy(Duration.ofSeconds(2));
        second.tryEmitError(new IllegalStateException("no answer")).orThrow();
        assertThat(last).as("it has stood for longer than a command may take").isCompletedExceptionally();
        deadline.dispose();
    }

    @Test
    void manyCommandsThatEndAtOnceDoNotFillTheStack() {
        Sinks.One<String> first = Sinks.one();
        CompletableFuture<String> before = lanes.inTurn("k", first.asMono()).toFuture();
        List<CompletableFuture<String>> closed = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            closed.add(lanes.inTurn("k", Mono.<String>error(new IllegalStateException("closed")))
                    .toFuture());
        }

        first.tryEmitValue("first").orThrow();

        assertThat(before).succeedsWithin(LIMIT).isEqualTo("first");
        assertThat(closed)
                .as("each has failed by its own error")
                .allMatch(CompletableFuture::isCompletedExceptionally)
                .allSatisfy(each -> assertThat(each)
                        .failsWithin(LIMIT)
                        .withThrowableThat()
                        .withCauseExactlyInstanceOf(IllegalStateException.class));
        assertThat(lanes.inTurn("k", Mono.just("later")).block(LIMIT)).isEqualTo("later");
    }
}
