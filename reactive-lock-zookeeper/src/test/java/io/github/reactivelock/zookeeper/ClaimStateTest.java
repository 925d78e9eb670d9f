package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** What a claim takes for news of its node. */
class ClaimStateTest {

    private static final Node NODE = new Node("/locks/k/a:1", 1, 7);

    private final ClaimState state = new ClaimState(new Claim("k", "a", "me", Duration.ofSeconds(1), Claim.Mode.QUEUE));

    @Test
    void aNodeThatWasGivenUpIsNotTakenForOursAgain() {
        assertThat(state.seen(NODE)).isTrue();
        assertThat(state.dropped(NODE)).isTrue();

        assertThat(state.seen(NODE)).isFalse();
        assertThat(state.own(NODE)).isFalse();
        assertThat(state.seen(new Node("/locks/k/a:2", 2, 7))).isTrue();
    }

    @Test
    void aHoldThatRanOutIsNotBegunAgainWithItsOldNode() {
        assertThat(state.seen(NODE)).isTrue();
        assertThat(state.own(NODE)).isTrue();
        assertThat(state.vanished(NODE, LossReason.EXPIRED)).isTrue();
        state.claimed();

        assertThat(state.seen(NODE)).isFalse();
    }

    @Test
    void whoIsInDoesNotWaitSoNothingEndsItsWait() {
        Disposable early = Disposables.single();
        Disposable late = Disposables.single();
        assertThat(state.seen(NODE)).isTrue();
        state.endWaitBy(early);
        assertThat(state.own(NODE)).isTrue();
        state.endWaitBy(late);

        assertThat(early.isDisposed()).isTrue();
        assertThat(late.isDisposed()).isTrue();
        assertThat(state.dropped(NODE)).isFalse();
        assertThat(state.isOwner()).isTrue();
    }

    @Test
    void nothingEndsAWaitThatIsBeingAskedAbout() {
        Disposable end = Disposables.single();
        assertThat(state.seen(NODE)).isTrue();
        state.endWaitBy(end);
        assertThat(end.isDisposed()).isFalse();

        state.asked();

        assertThat(end.isDisposed()).isTrue();
    }

    @Test
    void aQuestionAboutAHoldDoesNotKeepItBeyondItsLease() {
        Disposable end = Disposables.single();
        assertThat(state.seen(NODE)).isTrue();
        assertThat(state.own(NODE)).isTrue();
        state.endBy(end);

        state.asked();

        assertThat(end.isDisposed()).isFalse();
    }
}
