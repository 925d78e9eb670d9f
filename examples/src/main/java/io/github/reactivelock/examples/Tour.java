package io.github.reactivelock.examples;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LockEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.reactivestreams.Publisher;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows each call of the API once. Two clients stand for two processes: each has to wait for the locks of the other.
 */
@Command(name = "examples/run tour", description = "Shows each call of the API once.")
public final class Tour implements Callable<Integer> {

    private static final String KEY = "order:42";
    private static final Duration A_MOMENT = Duration.ofMillis(200);

    @Mixin
    private final RedisOption redis = new RedisOption();

    private Tour() {}

    /**
     * Runs the tour and ends the JVM.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Tour(), args);
    }

    @Override
    public Integer call() {
        redis.use(uri -> tour(client("here", uri), client("there", uri))).block();
        return 0;
    }

    private static LockClient client(String name, String uri) {
        return LockClient.builder(LettuceLockBackend.connect(uri))
                .name(name)
                .commandTimeout(Duration.ofSeconds(10))
                .build();
    }

    private static Mono<Void> tour(LockClient here, LockClient there) {
        return Flux.concat(
                        step("withLock: work under a lock, which is released however the work ends", work(here)),
                        step("A fencing token comes with every hold, higher than all before", tokens(here)),
                        step("acquire and tryAcquire: a handle of your own", handles(here, there)),
                        step("Reentrancy: below withLock, the same key is the same hold", reentrancy(here)),
                        step("A wait timeout", timeout(here, there)),
                        step("A lock that is lost stops the work", loss(here, there)),
                        step("awaitRelease: wait without taking part", waiting(here, there)),
                        step("events: watch a lock", watching(here, there)),
                        step("Several keys: all or nothing, always taken in one order", severalKeys(here)))
                .then(Mono.when(here.close(), there.close()));
    }

    private static Flux<?> work(LockClient lock) {
        Mono<String> one = Mono.just("receipt 4711").doOnNext(receipt -> say("charged once: " + receipt));
        Flux<String> many = Flux.just("packed", "shipped").doOnNext(Tour::say);

        return Flux.concat(lock.withLock(KEY, one), lock.withLock(KEY, many));
    }

    private static Flux<Long> tokens(LockClient lock) {
        Mono<Long> write = lock.withLock(KEY, held -> Mono.just(held.fencingToken()));

        return write.repeat(1).doOnNext(token -> say("write with token " + token));
    }

    private static Mono<Void> handles(LockClient here, LockClient there) {
        return Mono.usingWhen(
                here.acquire(KEY),
                held -> {
                    say("here holds it: " + held.isHeld());
                    say("without word from Redis it may act for " + held.remaining());
                    return there.tryAcquire(KEY)
                            .hasElement()
                            .doOnNext(got -> say("there gets it: " + got))
                            .then(there.inspect(KEY))
                            .doOnNext(info -> say("there sees " + info))
                            .then(held.renew())
                            .doOnSuccess(renewed -> say("renewed by hand; by itself it is at a third of the lease"));
                },
                LockHandle::release);
    }

    private static Mono<Long> reentrancy(LockClient lock) {
        Mono<Long> inner = lock.withLock(KEY, held -> Mono.just(held.fencingToken()));

        return lock.withLock(
                KEY, held -> inner.doOnNext(token -> say("outer " + held.fencingToken() + ", inner " + token)));
    }

    private static Mono<String> timeout(LockClient here, LockClient there) {
        LockClient impatient = there.with(there.options().withWaitTimeout(A_MOMENT));
        Mono<String> attempt = impatient.withLock(KEY, Mono.just("never seen"));

        return here.withLock(KEY, attempt).onErrorResume(LockTimeoutException.class, Tour::sayWhy);
    }

    private static Mono<String> loss(LockClient here, LockClient there) {
        Mono<Boolean> operator = there.forceRelease(KEY).doOnNext(forced -> say("an operator releases it by force"));
        Mono<String> endless = operator.then(Mono.<String>never()).doOnCancel(() -> say("the work is cancelled"));

        return here.withLock(KEY, endless).onErrorResume(LockLostException.class, Tour::sayWhy);
    }

    private static Mono<?> waiting(LockClient here, LockClient there) {
        Mono<Void> free = there.awaitRelease(KEY).doOnSuccess(done -> say("there learns that it is free"));
        Mono<Long> work = Mono.delay(A_MOMENT).doOnNext(done -> say("here is done"));

        return here.acquire(KEY).flatMap(held -> Mono.when(free, work.then(held.release())));
    }

    private static Flux<?> watching(LockClient here, LockClient there) {
        Mono<String> work = here.withLock(KEY, Mono.just("done"));

        return there.events(KEY)
                .doOnNext(event -> say("" + event))
                .take(3)
                .flatMap(event -> event instanceof LockEvent.Snapshot ? work : Mono.empty());
    }

    private static Mono<?> severalKeys(LockClient lock) {
        return lock.withLock(
                List.of("account:savings", "account:current"),
                held -> Mono.fromRunnable(
                        () -> say("holds " + held.stream().map(LockHandle::key).toList())));
    }

    private static Mono<Void> step(String title, Publisher<?> calls) {
        return Mono.fromRunnable(() -> System.out.println("\n" + title))
                .thenMany(calls)
                .then();
    }

    private static void say(String what) {
        System.out.println("    " + what);
    }

    private static <T> Mono<T> sayWhy(Exception error) {
        return Mono.fromRunnable(() -> say(error.getClass().getSimpleName() + ": " + error.getMessage()));
    }
}
