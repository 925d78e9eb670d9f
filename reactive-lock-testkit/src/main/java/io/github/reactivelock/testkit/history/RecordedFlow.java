package io.github.reactivelock.testkit.history;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Records one acquisition. A cancel that crosses the grant may record both a withdrawal and a hold; the hold counts.
 */
final class RecordedFlow {

    private final History history;
    private final String key;
    private final String id;
    private final Share share;
    private final AtomicBoolean granted = new AtomicBoolean();
    private boolean isEnded;

    RecordedFlow(History history, String key, String id, Share share) {
        this.history = history;
        this.key = key;
        this.id = id;
        this.share = share;
    }

    String id() {
        return id;
    }

    <T> Mono<T> under(LockHandle held, Function<? super LockHandle, ? extends Mono<T>> work) {
        return Mono.defer(() -> {
                    granted.set(true);
                    history.addHeld(Kind.GRANTED, id, held, share);
                    return work.apply(new Looked(held));
                })
                .doOnTerminate(() -> end(held))
                .doOnCancel(() -> end(held));
    }

    void over() {
        if (!granted.get()) {
            history.add(Kind.GAVE_UP, key, id, 0, 0);
        }
    }

    /** A cancel that meets the end of the work returns when that is written, because then the lock goes to the next. */
    private synchronized void end(LockHandle held) {
        if (granted.get() && !isEnded) {
            isEnded = true;
            history.add(held.isHeld() ? Kind.RELEASED : Kind.LOST, key, id, held.fencingToken(), 0);
        }
    }

    /** The handle that the work sees. */
    private final class Looked implements LockHandle {

        private final LockHandle held;

        Looked(LockHandle held) {
            this.held = held;
        }

        @Override
        public String key() {
            return held.key();
        }

        @Override
        public long fencingToken() {
            return held.fencingToken();
        }

        @Override
        public Duration remaining() {
            return held.remaining();
        }

        @Override
        public boolean isHeld() {
            boolean isHeld = held.isHeld();
            if (isHeld) {
                history.addHeld(Kind.HELD, id, held, share);
            }
            return isHeld;
        }

        @Override
        public Mono<LockLostException> lost() {
            return held.lost();
        }

        @Override
        public Flux<HoldState> states() {
            return held.states();
        }

        @Override
        public Mono<Void> renew() {
            return held.renew();
        }

        @Override
        public Mono<Void> release() {
            return held.release();
        }
    }
}
