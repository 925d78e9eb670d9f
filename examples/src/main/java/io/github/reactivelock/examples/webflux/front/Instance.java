package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.webflux.shop.Activity;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** One of the shop's processes, which may be killed and started again. */
final class Instance {

    private static final Duration ASK_AGAIN = Duration.ofMillis(500);

    private final String name;
    private final Board board;
    private final String[] properties;
    private final AtomicBoolean runs = new AtomicBoolean();
    private final AtomicReference<@Nullable ChildProcess> process = new AtomicReference<>();

    Instance(String name, Board board, String... properties) {
        this.name = name;
        this.board = board;
        this.properties = properties.clone();
    }

    /** Starts the process if there is none, and follows it to its end. */
    Mono<Void> run() {
        return Mono.fromSupplier(() -> runs.compareAndSet(false, true))
                .filter(first -> first)
                .flatMap(first -> Mono.fromCallable(this::start)
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(this::followToItsEnd)
                        .onErrorResume(failed -> {
                            board.change(fleet -> fleet.say("%s failed: %s", name, Launcher.explain(failed)));
                            return Mono.empty();
                        })
                        .then(Mono.defer(this::ended)));
    }

    private ChildProcess start() throws IOException {
        board.change(fleet -> fleet.starting(name));
        ChildProcess started = ChildProcess.start(name, Redirect.PIPE, ShopProcess.class, properties);
        process.set(started);
        return started;
    }

    private Mono<Void> followToItsEnd(ChildProcess started) {
        return started.answer()
                .map(port -> "http://127.0.0.1:" + port)
                .doOnNext(address -> board.change(fleet -> fleet.running(name, address)))
                .flatMapMany(address -> activity(address)
                        .repeat()
                        .retryWhen(Retry.from(breaks -> breaks.concatMap(broken -> isToBeAskedAgain(started))
                                .takeWhile(again -> again))))
                .then();
    }

    /** A connection breaks when the process ends, and hardly ever otherwise. */
    private static Mono<Boolean> isToBeAskedAgain(ChildProcess started) {
        return Mono.firstWithSignal(
                started.exit().thenReturn(false), Mono.delay(ASK_AGAIN).thenReturn(true));
    }

    private Mono<Void> ended() {
        process.set(null);
        runs.set(false);
        return board.ended(name);
    }

    private Flux<Activity> activity(String address) {
        return WebClient.create(address)
                .get()
                .uri("/activity")
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(Activity.class)
                .doOnNext(activity -> board.change(fleet -> fleet.told(name, activity)));
    }

    /** As {@code kill -9} does; completes when the process has ended. */
    Mono<Void> kill() {
        return ifAny(running -> {
            running.kill();
            return running.exit();
        });
    }

    Mono<Void> pause() {
        return ifAny(running -> running.pause().doOnSuccess(done -> board.change(fleet -> fleet.paused(name))));
    }

    Mono<Void> resume() {
        return ifAny(running -> running.resume().doOnSuccess(done -> board.change(fleet -> fleet.resumed(name))));
    }

    /** Tells it to end, and waits until it has. A paused one has to go on for that. */
    Mono<Void> close() {
        return ifAny(running -> running.end(running.resume().doOnSuccess(done -> running.terminate())));
    }

    private Mono<Void> ifAny(Function<ChildProcess, Mono<Void>> order) {
        return Mono.defer(() -> Mono.justOrEmpty(process.get())).flatMap(order);
    }
}
