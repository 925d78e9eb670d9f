package io.github.reactivelock.testkit;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A backend with faults in front of a real one: commands that never arrive, answers that are lost, signals that are
 * dropped, forged or interrupted. A fault maps the real command to what the engine sees instead. A test can change it
 * at any time, and it applies to later commands. The backend also counts the commands.
 */
public final class FaultyBackend extends ForwardingBackend {

    private final Queue<Claim> claims = new ConcurrentLinkedQueue<>();
    private final Set<String> answered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger renewals = new AtomicInteger();
    private final AtomicInteger releases = new AtomicInteger();
    private final Sinks.Many<Signal> forged = Sinks.many().multicast().directBestEffort();
    private final Sinks.Empty<Void> listening = Sinks.empty();
    private final Sinks.Many<Boolean> interruptions = Sinks.many().multicast().directBestEffort();
    private volatile UnaryOperator<Mono<ClaimResult>> claimFault = UnaryOperator.identity();
    private volatile UnaryOperator<Mono<RenewalResult>> renewalFault = UnaryOperator.identity();
    private volatile UnaryOperator<Mono<Boolean>> releaseFault = UnaryOperator.identity();
    private volatile Predicate<Signal> passes = signal -> true;
    private volatile boolean broken;
    private volatile boolean deaf;
    private volatile Sinks.Empty<Void> connected = Sinks.empty();

    /**
     * Has no faults until a test sets some.
     *
     * @param real the backend behind this one
     */
    public FaultyBackend(LockBackend real) {
        super(real);
    }

    /**
     * A fault: the store carries the command out, and the answer never comes.
     *
     * @param command the real command
     * @param <T> the answer's type
     * @return never answers
     */
    public static <T> Mono<T> answerLost(Mono<T> command) {
        return command.then(Mono.never());
    }

    /**
     * A fault: the store carries the command out, and an error comes back.
     *
     * @param command the real command
     * @param <T> the answer's type
     * @return fails
     */
    public static <T> Mono<T> answerFails(Mono<T> command) {
        return command.then(Mono.error(() -> new IllegalStateException("the connection broke (a planted fault)")));
    }

    /**
     * A fault: the command does not reach the store.
     *
     * @param command the real command
     * @param <T> the answer's type
     * @return fails
     */
    public static <T> Mono<T> unreachable(Mono<T> command) {
        return Mono.error(() -> new IllegalStateException("no connection (a planted fault)"));
    }

    /**
     * A fault: the command does not reach the store, and no answer shows it.
     *
     * @param command is not subscribed to
     * @param <T> the answer's type
     * @return never answers
     */
    public static <T> Mono<T> silent(Mono<T> command) {
        return Mono.never();
    }

    /**
     * Sets what happens to claims from now on.
     *
     * @param fault from the real command to what is seen
     */
    public void onClaim(UnaryOperator<Mono<ClaimResult>> fault) {
        this.claimFault = fault;
    }

    /**
     * Sets what happens to renewals from now on.
     *
     * @param fault from the real command to what is seen
     */
    public void onRenewal(UnaryOperator<Mono<RenewalResult>> fault) {
        this.renewalFault = fault;
    }

    /**
     * Sets what happens to releases from now on.
     *
     * @param fault from the real command to what is seen
     */
    public void onRelease(UnaryOperator<Mono<Boolean>> fault) {
        this.releaseFault = fault;
    }

    /**
     * Sets which signals of the store are let through from now on.
     *
     * @param passes false for signals to lose
     */
    public void onSignal(Predicate<Signal> passes) {
        this.passes = passes;
    }

    /**
     * Breaks the connection, of which a driver knows: claims, renewals and releases fail, signals are lost, and
     * {@link #isReady} and {@link #hearsRecalls} are false until {@link #mend}.
     */
    public void cut() {
        deaf = true;
        connected = Sinks.empty();
        broken = true;
        claimFault = FaultyBackend::unreachable;
        renewalFault = FaultyBackend::unreachable;
        releaseFault = FaultyBackend::unreachable;
        passes = signal -> false;
    }

    /** Removes all faults. After a {@link #cut} the engine hears that signals may have been missed. */
    public void mend() {
        claimFault = UnaryOperator.identity();
        renewalFault = UnaryOperator.identity();
        releaseFault = UnaryOperator.identity();
        passes = signal -> true;
        if (broken) {
            broken = false;
            forged.tryEmitNext(new Signal.Reconnected());
            deaf = false;
            connected.tryEmitEmpty();
        }
    }

    @Override
    public boolean isReady() {
        return !broken && super.isReady();
    }

    @Override
    public Mono<Void> ready() {
        return broken ? connected.asMono() : super.ready();
    }

    @Override
    public boolean hearsRecalls() {
        return !deaf && super.hearsRecalls();
    }

    /**
     * Pushes a signal that the store did not send.
     *
     * @param signal what the engine sees
     */
    public void forge(Signal signal) {
        forged.tryEmitNext(signal).orThrow();
    }

    /** The engine has handled a signal. */
    private void heard(Signal signal) {
        if (signal instanceof Signal.Reconnected) {
            listening.tryEmitEmpty(); // which may be completed already
        }
    }

    /**
     * Waits until the engine knows that its subscription is confirmed. A waiting claim then asks once more, because
     * earlier pushes had no listener.
     *
     * @return completes then, or at once if the engine knows already
     */
    public Mono<Void> listening() {
        return listening.asMono();
    }

    /** Interrupts the signals, so that the engine subscribes to them anew. */
    public void interruptSignals() {
        interruptions.tryEmitNext(true).orThrow();
    }

    /**
     * The claims that the engine asked for, repetitions included.
     *
     * @return the claims so far, oldest first
     */
    public List<Claim> claims() {
        return List.copyOf(claims);
    }

    /**
     * How many claims have had an answer that the engine got, at least once: an event after that comes after the
     * answer.
     */
    int answered() {
        return answered.size();
    }

    /**
     * How many renewals the engine sent.
     *
     * @return the number of commands so far
     */
    public int renewals() {
        return renewals.get();
    }

    /**
     * How many releases the engine sent.
     *
     * @return the number of commands so far
     */
    public int releases() {
        return releases.get();
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            Mono<ClaimResult> answer = claimFault.apply(super.claim(claim));
            claims.add(claim);
            return answer.doAfterTerminate(() -> answered.add(claim.id()));
        });
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Mono.defer(() -> {
            Mono<RenewalResult> answer = renewalFault.apply(super.renew(held));
            renewals.incrementAndGet();
            return answer;
        });
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return released(super.release(claim));
    }

    /** Is a release, as faults and counts have it. */
    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return released(super.keep(held, kept));
    }

    private Mono<Boolean> released(Mono<Boolean> command) {
        return Mono.defer(() -> releaseFault.apply(command)).doOnSubscribe(asked -> releases.incrementAndGet());
    }

    @Override
    public Flux<Signal> signals() {
        Flux<Signal> interrupted = interruptions.asFlux().map(unused -> {
            throw new IllegalStateException("the signals were interrupted (a planted fault)");
        });
        Flux<Signal> passed = super.signals()
                .filter(signal -> passes.test(signal))
                .concatMap(signal -> Flux.just(signal).concatWith(Mono.fromRunnable(() -> heard(signal))), 1);
        return Flux.merge(passed, forged.asFlux(), interrupted);
    }
}
