package io.github.reactivelock.spi.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** What a claim takes for news of its entry, and what waits for that. */
class QueuedClaimTest {

    private static final TestEntry ENTRY = new TestEntry("a", Share.WHOLE, 1);
    private static final TestEntry MADE_ANEW = new TestEntry("a", Share.WHOLE, 2);

    private final QueuedClaim<TestEntry, TestEntry> state =
            new QueuedClaim<>(new Claim("k", "a", "me", Duration.ofSeconds(1), Claim.Mode.QUEUE)) {};

    @Test
    void anEntryThatWasGivenUpIsNotTakenForOursAgain() {
        assertThat(state.seen(ENTRY)).isTrue();
        assertThat(state.dropped(ENTRY)).isTrue();

        assertThat(state.seen(ENTRY)).isFalse();
        assertThat(state.own(ENTRY)).isFalse();
        assertThat(state.seen(MADE_ANEW)).isTrue();
    }

    @Test
    void aHoldThatRanOutIsNotBegunAgainWithItsOldEntry() {
        assertThat(state.seen(ENTRY)).isTrue();
        assertThat(state.own(ENTRY)).isTrue();
        assertThat(state.vanished(ENTRY, LossReason.EXPIRED)).isTrue();
        state.claimed();

        assertThat(state.seen(ENTRY)).isFalse();
    }

    @Test
    void whoIsInDoesNotWaitSoNothingEndsItsWait() {
        Disposable early = Disposables.single();
        Disposable late = Disposables.single();
        assertThat(state.seen(ENTRY)).isTrue();
        state.endWaitBy(early);
        assertThat(state.own(ENTRY)).isTrue();
        state.endWaitBy(late);

        assertThat(early.isDisposed()).isTrue();
        assertThat(late.isDisposed()).isTrue();
        assertThat(state.dropped(ENTRY)).isFalse();
        assertThat(state.isOwner()).isTrue();
    }

    @Test
    void nothingEndsAWaitThatIsBeingAskedAbout() {
        Disposable end = Disposables.single();
        assertThat(state.seen(ENTRY)).isTrue();
        state.endWaitBy(end);
        assertThat(end.isDisposed()).isFalse();

        state.asked();

        assertThat(end.isDisposed()).isTrue();
    }

    @Test
    void aQuestionAboutAHoldDoesNotKeepItBeyondItsLease() {
        Disposable end = Disposables.single();
        assertThat(state.seen(ENTRY)).isTrue();
        assertThat(state.own(ENTRY)).isTrue();
        state.endBy(end);

        state.asked();

        assertThat(end.isDisposed()).isFalse();
    }

    @Test
    void whatWaitsBehindAnEntryLooksAgainWhenThatVanishesOrItsClaimEnds() {
        assertThat(state.seen(ENTRY)).isTrue();
        List<CompletableFuture<Void>> ends = awaitedByTwo(ENTRY);
        assertThat(state.vanished(ENTRY, LossReason.EXPIRED)).isTrue();
        assertThat(ends).allMatch(CompletableFuture::isDone);

        assertThat(state.seen(MADE_ANEW)).isTrue();
        List<CompletableFuture<Void>> later = awaitedByTwo(MADE_ANEW);
        assertThat(state.leave()).isFalse();
        assertThat(later).as("until its entry is gone").noneMatch(CompletableFuture::isDone);
        state.over();
        assertThat(later).allMatch(CompletableFuture::isDone);
        assertThat(state.untilOver(MADE_ANEW)).isNull();
    }

    @Test
    void whatWaitsBehindAnEntryLooksAgainWhenTheClaimHasAnother() {
        assertThat(state.seen(ENTRY)).isTrue();
        List<CompletableFuture<Void>> ends = awaitedByTwo(ENTRY);
        assertThat(state.seen(ENTRY)).as("once more").isTrue();
        assertThat(ends).noneMatch(CompletableFuture::isDone);

        assertThat(state.seen(MADE_ANEW)).isTrue();

        assertThat(ends).allMatch(CompletableFuture::isDone);
        assertThat(state.untilOver(ENTRY)).isNull();
    }

    private List<CompletableFuture<Void>> awaitedByTwo(TestEntry entry) {
        return Stream.generate(
                        () -> Objects.requireNonNull(state.untilOver(entry)).toFuture())
                .limit(2)
                .toList();
    }
}
