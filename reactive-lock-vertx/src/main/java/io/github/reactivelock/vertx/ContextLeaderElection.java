package io.github.reactivelock.vertx;

import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.streams.ReadStream;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.util.context.ContextView;

/** The engine's candidate, seen from Vert.x contexts. A campaign lasts until its sink completes. */
final class ContextLeaderElection implements VertxLeaderElection {

    private final VertxInternal vertx;
    private final LeaderElection election;
    /**
     * Each ends a campaign: the one that is under way, or that has just ended, or that the engine is about to refuse.
     */
    private final Set<Sinks.Empty<Void>> campaigns = ConcurrentHashMap.newKeySet();

    ContextLeaderElection(VertxInternal vertx, LeaderElection election) {
        this.vertx = vertx;
        this.election = election;
    }

    @Override
    public Future<Void> lead(Function<VertxLeadership, Future<Void>> work) {
        Objects.requireNonNull(work, "work");
        ContextInternal caller = vertx.getOrCreateContext();
        return ContextLockClient.future(caller, Mono.defer(() -> {
            Sinks.Empty<Void> stop = Sinks.empty();
            campaigns.add(stop);
            return election.lead(leadership -> term(caller, leadership, work))
                    .takeUntilOther(stop.asMono())
                    .then()
                    .doOnTerminate(() -> campaigns.remove(stop));
        }));
    }

    @Override
    public Future<Void> stop() {
        return ContextLockClient.future(vertx.getOrCreateContext(), Mono.fromRunnable(() -> {
            for (Sinks.Empty<Void> running : List.copyOf(campaigns)) { // and none that begins because of this
                running.tryEmitEmpty(); // which may have completed already
            }
        }));
    }

    @Override
    public ElectionState state() {
        return election.state();
    }

    @Override
    public ReadStream<ElectionState> states() {
        return new ContextStream<>(vertx.getOrCreateContext(), election.states());
    }

    @Override
    public ReadStream<ElectionState> observe() {
        return new ContextStream<>(vertx.getOrCreateContext(), election.observe());
    }

    private Mono<Void> term(
            ContextInternal caller, Leadership leadership, Function<VertxLeadership, Future<Void>> work) {
        return Mono.deferContextual(context -> {
            Term term = new Term(leadership);
            return Mono.<Void>create(sink -> run(caller, context, term, work, sink))
                    .doOnCancel(term.ended::tryComplete);
        });
    }

    private static void run(
            ContextInternal caller,
            ContextView context,
            Term term,
            Function<VertxLeadership, Future<Void>> work,
            MonoSink<Void> sink) {
        HeldContext.below(caller, context).runOnContext(now -> {
            // It may have been lost on the way here. Then it is over, or ends now.
            if (!term.isLeader()) {
                sink.success();
                return;
            }
            Future<Void> result;
            try {
                result = Objects.requireNonNull(work.apply(term), "the work of a leader must not be null");
            } catch (Throwable e) {
                result = Future.failedFuture(e);
            }
            result.onComplete(sink::success, sink::error);
        });
    }

    /** A term, which tells its end as a future. */
    private final class Term implements VertxLeadership {

        private final Leadership leadership;
        private final Promise<Void> ended = Promise.promise();

        Term(Leadership leadership) {
            this.leadership = leadership;
        }

        @Override
        public String key() {
            return leadership.key();
        }

        @Override
        public long term() {
            return leadership.term();
        }

        @Override
        public boolean isLeader() {
            return leadership.isLeader();
        }

        @Override
        public Duration remaining() {
            return leadership.remaining();
        }

        @Override
        public void onEnd(Handler<Void> handler) {
            ContextInternal caller = vertx.getOrCreateContext();
            ended.future().onSuccess(end -> caller.runOnContext(handler));
        }

        @Override
        public Future<Void> resign() {
            return ContextLockClient.future(vertx.getOrCreateContext(), leadership.resign());
        }

        @Override
        public String toString() {
            return leadership.toString();
        }
    }
}
