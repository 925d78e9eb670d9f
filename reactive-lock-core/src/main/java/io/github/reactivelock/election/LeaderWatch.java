package io.github.reactivelock.election;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Seeking;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Who leads, as the store tells it. A store need not announce a lease that runs out, so each leader that is seen is
 * also waited for by {@code awaitRelease}, which looks again then. That is not believed for a whole term: a look at a
 * quorum may be torn, and an owner whom the events never ended is not told of again. So another look follows.
 */
final class LeaderWatch {

    private final Flux<LockEvent> events;
    private final Mono<Void> release;
    private final Mono<LockInfo> look;
    private final Supplier<Backoff> backoff;
    private final Supplier<Instant> clock;

    LeaderWatch(LockClient locks, String key, Supplier<Backoff> backoff, Supplier<Instant> clock) {
        this.events = locks.events(key);
        this.release = locks.awaitRelease(key);
        this.look = locks.inspect(key);
        this.backoff = backoff;
        this.clock = clock;
    }

    /** Following and seeking, for ever; fails only if the client is closed. */
    Flux<ElectionState> states() {
        return Flux.defer(() -> {
                    Backoff pauses = backoff.get();
                    return Flux.defer(() -> {
                                pauses.begin();
                                return events.filter(new News()::isNews).switchMap(this::after);
                            })
                            .onErrorResume(
                                    LockUnavailableException.class,
                                    e -> Flux.concat(Mono.just(seeking(e)), Mono.error(e)))
                            .retryWhen(pauses.after(LockUnavailableException.class::isInstance));
                })
                .scan(LatestState::merged)
                .distinctUntilChanged();
    }

    /** What was pushed before a snapshot may be heard after it, and is older than the term that the snapshot shows. */
    static final class News {

        private long term;

        boolean isNews(LockEvent event) {
            if (event instanceof LockEvent.Snapshot snapshot) {
                term = snapshot.info() instanceof LockInfo.Held held ? held.fencingToken() : 0;
                return true;
            }
            long token = event instanceof LockEvent.Acquired acquired
                    ? acquired.fencingToken()
                    : ((LockEvent.Released) event).fencingToken();
            boolean isOld = token < term;
            term = Math.max(term, token);
            return !isOld;
        }
    }

    private Flux<ElectionState> after(LockEvent event) {
        if (event instanceof LockEvent.Acquired acquired) {
            return following(acquired.owner(), acquired.fencingToken());
        }
        if (event instanceof LockEvent.Snapshot snapshot && snapshot.info() instanceof LockInfo.Held held) {
            return following(held.owner(), held.fencingToken());
        }
        return Flux.just(seeking(null));
    }

    private Flux<ElectionState> following(String leader, long term) {
        return Flux.concat(
                Mono.just(new Following(leader, term, clock.get())),
                release.thenMany(Mono.fromSupplier(() -> seeking(null))),
                look.map(LockEvent.Snapshot::new).flatMapMany(this::after));
    }

    private ElectionState seeking(@Nullable Throwable cause) {
        return new Seeking(clock.get(), cause);
    }
}
