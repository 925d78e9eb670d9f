package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A candidate that campaigns for as long as the application runs: declare it as a bean. When the application stops, the
 * leader's work is cancelled and the lock given up, before the lock client closes. While it stops in a pause of a
 * test's context, it does not lead. With Spring Boot's actuator it has a part in the health component {@code election}.
 */
public final class ElectionLifecycle implements SmartLifecycle {

    /** Steps down before the lock clients close. */
    static final int PHASE = LockLifecycle.PHASE + 1024;

    private static final Logger log = LoggerFactory.getLogger(ElectionLifecycle.class);

    private final LeaderElection election;
    private final Function<? super Leadership, ? extends Publisher<?>> work;
    private volatile @Nullable Course course;

    private ElectionLifecycle(LeaderElection election, Function<? super Leadership, ? extends Publisher<?>> work) {
        this.election = Objects.requireNonNull(election, "election");
        this.work = Objects.requireNonNull(work, "work");
    }

    /**
     * A candidate whose leader does some work.
     *
     * @param election the candidate; no other code may campaign with it
     * @param work what the leader does, as in {@link LeaderElection#lead}; an error of it ends the campaign and goes to
     *     the log
     * @return a bean
     */
    public static ElectionLifecycle leading(
            LeaderElection election, Function<? super Leadership, ? extends Publisher<?>> work) {
        return new ElectionLifecycle(election, work);
    }

    /**
     * A candidate that tells the application of its terms, by the events {@code OnGrantedEvent} and
     * {@code OnRevokedEvent} of Spring Integration, whose {@code spring-integration-core} has to be on the class path.
     * Listeners run on the work scheduler of the lock client. A loss revokes before another term can begin, as
     * {@link Leadership#lost()} says.
     *
     * @param election the candidate; no other code may campaign with it
     * @param role what the events call it
     * @param events where they are published; the application context will do
     * @return a bean
     */
    public static ElectionLifecycle publishing(LeaderElection election, String role, ApplicationEventPublisher events) {
        return new ElectionLifecycle(election, LeaderEvents.of(election, role, events));
    }

    LeaderElection election() {
        return election;
    }

    @Override
    public void start() {
        Course begun = new Course(work);
        course = begun;
        begun.campaign.update(election.lead(begun::lead).subscribe(value -> {}, this::ended));
    }

    private void ended(Throwable failure) {
        if (!(failure instanceof LockClientClosedException)) {
            log.error("{} campaigns no more, because of its work", election, failure);
        }
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    /**
     * Over when the work has been cancelled: a call of it that is under way, of a listener perhaps, is waited for.
     * Spring waits for as long as {@code spring.lifecycle.timeout-per-shutdown-phase} says.
     */
    @Override
    public void stop(Runnable callback) {
        Course running = course;
        course = null;
        if (running == null) {
            callback.run();
        } else {
            running.stop(callback);
        }
    }

    @Override
    public boolean isRunning() {
        return course != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** One campaign, and the end of the term in which it is. */
    private static final class Course {

        private final Function<? super Leadership, ? extends Publisher<?>> work;
        final Disposable.Swap campaign = Disposables.swap();
        private boolean stopped;
        private volatile Sinks.Empty<Void> term = Sinks.empty();

        Course(Function<? super Leadership, ? extends Publisher<?>> work) {
            this.work = work;
            term.tryEmitEmpty().orThrow();
        }

        /** The work, unless the campaign was stopped while its turn came. */
        Flux<Object> lead(Leadership leadership) {
            return Flux.using(this::begin, isOn -> isOn ? work.apply(leadership) : Flux.never(), isOn -> end());
        }

        /** Terms follow one another: the one before has ended. */
        private synchronized boolean begin() {
            if (!stopped) {
                term = Sinks.empty();
            }
            return !stopped;
        }

        private void end() {
            term.tryEmitEmpty(); // which is completed already if it was stopped before
        }

        void stop(Runnable callback) {
            Mono<Void> ended;
            synchronized (this) {
                stopped = true;
                ended = term.asMono();
            }
            campaign.dispose();
            ended.subscribe(nothing -> {}, failure -> callback.run(), callback);
        }
    }
}
