package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Signal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

class SignalListenersTest {

    private final SignalListeners listeners = new SignalListeners();
    private final IllegalStateException closed = new IllegalStateException("closed");
    private final List<Signal> signals = new ArrayList<>();
    private final List<Throwable> ends = new ArrayList<>();

    private Disposable subscribe() {
        return listeners.signals().subscribe(signals::add, ends::add);
    }

    @Test
    void whoIsSubscribedGetsWhatIsPushedAndThenTheEnd() {
        Disposable gone = subscribe();
        gone.dispose();
        Disposable subscribed = subscribe();
        listeners.push(new Signal.Reconnected());
        listeners.close(closed);

        assertThat(signals).containsExactly(new Signal.Reconnected());
        assertThat(ends).containsExactly(closed);
        assertThat(subscribed.isDisposed()).isTrue();
    }

    @Test
    void whoComesAfterTheEndGetsItAtOnce() {
        listeners.close(closed);
        Disposable late = subscribe();
        listeners.push(new Signal.Reconnected());

        assertThat(ends).containsExactly(closed);
        assertThat(late.isDisposed()).isTrue();
        assertThat(signals).isEmpty();
    }

    @Test
    void whoIsEndedOnceIsNotEndedAgain() {
        Disposable subscribed = subscribe();
        listeners.close(closed);
        listeners.close(new IllegalStateException("again"));

        assertThat(ends).containsExactly(closed);
        assertThat(subscribed.isDisposed()).isTrue();
    }
}
