package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/** A store whose every answer a test gives by hand: granted, queued, an error, never, late. */
public final class ScriptedBackend implements LockBackend {

    /** A command that was sent, to be answered when the test likes. */
    public static final class Asked<T> {
        private final List<Claim> claims;
        private final MonoSink<T> sink;

        private Asked(List<Claim> claims, MonoSink<T> sink) {
            this.claims = claims;
            this.sink = sink;
        }

        public Claim claim() {
            assertThat(claims).hasSize(1);
            return claims.get(0);
        }

        public List<Claim> claims() {
            return claims;
        }

        public void answer(T answer) {
            sink.success(answer);
        }

        public void fail() {
            sink.error(new IllegalStateException("the store refused"));
        }
    }

    /** Every command in the order in which it was sent, as "claim c.0". */
    public final List<String> log = new ArrayList<>();

    /** Ids of claims in the order of their first questions. */
    public final List<String> ids = new ArrayList<>();

    public final List<Asked<ClaimResult>> claims = new ArrayList<>();
    private final List<Asked<RenewalResult>> renewals = new ArrayList<>();
    private final List<Asked<Boolean>> releases = new ArrayList<>();
    private Sinks.Many<Signal> signals = Sinks.many().multicast().directBestEffort();
    public int signalSubscriptions;
    public boolean isClosed;
    /** Claims that locks were left to. */
    public final List<Claim> kept = new ArrayList<>();
    /** Claims that are released answer "was yours" by themselves. */
    public boolean confirmsReleases = true;
    /** All but this key's. */
    public String releasedByHand = "";
    /** Questions that stand in a line of its own. */
    public Predicate<Claim> holdsBack = claim -> false;
    /** It says that it can call locks back. */
    public boolean recalls;
    /** It says that it keeps shares. */
    public boolean shares;
    /** A recall would arrive, as far as it has seen. */
    public boolean hears = true;
    /** Runs when it is asked that. */
    public Runnable asksToHear = () -> {};
    /** Renewals succeed by themselves. */
    public boolean confirmsRenewals;

    public Mono<Void> closes = Mono.empty();
    public Flux<LockEvent> events = Flux.never();
    /** Of a key that is free if empty. */
    public Mono<LockInfo> inspects = Mono.empty();

    /** Thrown by whoever is to ask, as where a class cannot be loaded. */
    @Nullable
    public Error broken;

    /** Runs while it is asked, or listened to. */
    public Runnable whileCalled = () -> {};

    /** There is a connection. */
    private boolean isConnected = true;

    private final List<MonoSink<Void>> connecting = new ArrayList<>();
    public int openings;
    public int inspections;

    /** What it says of its silence about a key; each is kept by a server of its own. */
    public UnaryOperator<String> whySilent = key -> "look at the server of '" + key + "'";

    @Override
    public String toString() {
        return "the scripted store";
    }

    @Override
    public String whySilent(String key) {
        return whySilent.apply(key);
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return holdsBack.test(claim);
    }

    @Override
    public boolean supportsRecall() {
        return recalls;
    }

    @Override
    public boolean supports(Share share) {
        return shares || share.isWhole();
    }

    @Override
    public boolean hearsRecalls() {
        asksToHear.run();
        return recalls && hears;
    }

    @Override
    public boolean isReady() {
        return isConnected;
    }

    @Override
    public Mono<Void> ready() {
        return Mono.create(sink -> {
            openings++;
            connecting.add(sink);
        });
    }

    public void disconnect() {
        isConnected = false;
    }

    /** There is a connection, and nobody who waits for one was told. */
    public void connectUnnoticed() {
        isConnected = true;
    }

    public void connect() {
        connectUnnoticed();
        List<MonoSink<Void>> told = List.copyOf(connecting);
        connecting.clear();
        told.forEach(MonoSink::success);
    }

    public void refuseConnection() {
        List<MonoSink<Void>> told = List.copyOf(connecting);
        connecting.clear();
        told.forEach(sink -> sink.error(new IllegalStateException("connection refused")));
    }

    public static ClaimResult granted(Claim claim, long number) {
        return new ClaimResult.Granted(token(number), claim.lease());
    }

    public static long token(long number) {
        return number << PASS_BITS;
    }

    public static ClaimResult queued() {
        return queued(0);
    }

    /** Queued when the store had given this token last. */
    public static ClaimResult queued(long number) {
        return new ClaimResult.Queued(Duration.ofDays(1), null, token(number));
    }

    /** The oldest claim that was not taken from here yet. */
    @CanIgnoreReturnValue
    public Asked<ClaimResult> claim() {
        return next("claim", claims);
    }

    @CanIgnoreReturnValue
    public Asked<RenewalResult> renewal() {
        return next("renewal", renewals);
    }

    @CanIgnoreReturnValue
    public Asked<Boolean> release() {
        return next("release", releases);
    }

    private static <T> Asked<T> next(String what, List<Asked<T>> asked) {
        assertThat(asked).as("no " + what + " was sent").isNotEmpty();
        return asked.remove(0);
    }

    /** How often a command was sent so far. */
    public long count(String verb) {
        return log.stream().filter(line -> line.startsWith(verb)).count();
    }

    /** Forgets the commands nobody answers. */
    public void ignoreAll() {
        claims.clear();
        renewals.clear();
        releases.clear();
        log.clear();
    }

    public void push(Signal signal) {
        signals.emitNext(signal, Sinks.EmitFailureHandler.FAIL_FAST);
    }

    /** The connection that pushes breaks; another can be made at once. */
    public void failSignals() {
        failSignals(new IllegalStateException("the connection broke"));
    }

    public void failSignals(Throwable cause) {
        Sinks.Many<Signal> broken = signals;
        signals = Sinks.many().multicast().directBestEffort();
        broken.emitError(cause, Sinks.EmitFailureHandler.FAIL_FAST);
    }

    public void push(Claim claim, long number) {
        push(new Signal.Grant(claim.id(), token(number)));
    }

    public static RenewalResult renewed(List<Claim> claims) {
        Set<String> ids = new HashSet<>();
        claims.forEach(claim -> ids.add(claim.id()));
        return new RenewalResult(ids, Map.of());
    }

    public static RenewalResult lost(List<Claim> claims, LossReason reason) {
        Map<String, LossReason> ids = new HashMap<>();
        claims.forEach(claim -> ids.put(claim.id(), reason));
        return new RenewalResult(Set.of(), ids);
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        throwIfBroken();
        return Mono.defer(() -> {
            if (!ids.contains(claim.id())) {
                ids.add(claim.id());
            }
            return asked("claim", List.of(claim), claims);
        });
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return confirmsRenewals
                ? Mono.fromRunnable(() -> note("renew", held)).then(Mono.fromCallable(() -> renewed(held)))
                : asked("renew", held, renewals);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return ended("release", claim);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        this.kept.add(kept);
        return ended("keep", held, kept);
    }

    @Override
    public Mono<Void> recall(String key) {
        return Mono.fromRunnable(() -> log.add("recall " + key));
    }

    private Mono<Boolean> ended(String verb, Claim... claims) {
        throwIfBroken();
        return confirmsReleases && !claims[0].key().equals(releasedByHand)
                ? Mono.fromRunnable(() -> note(verb, List.of(claims))).thenReturn(true)
                : asked(verb, List.of(claims), releases);
    }

    private void throwIfBroken() {
        Error thrown = broken;
        if (thrown != null) {
            throw thrown;
        }
    }

    private <T> Mono<T> asked(String verb, List<Claim> about, List<Asked<T>> into) {
        return Mono.create(sink -> {
            note(verb, about);
            whileCalled.run();
            into.add(new Asked<>(about, sink));
        });
    }

    private void note(String verb, List<Claim> about) {
        about.forEach(each -> log.add(verb + " " + each.id().substring(each.id().indexOf('.'))));
    }

    @Override
    public Flux<Signal> signals() {
        return Flux.defer(() -> signals.asFlux().doOnSubscribe(s -> {
            signalSubscriptions++;
            whileCalled.run();
        }));
    }

    public int listeners() {
        return signals.currentSubscriberCount();
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return inspects.defaultIfEmpty(new LockInfo.Free(key)).doOnSubscribe(s -> inspections++);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return events;
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return Mono.never();
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> isClosed = log.add("close")).then(closes);
    }
}
