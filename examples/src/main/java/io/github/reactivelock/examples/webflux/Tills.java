package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.webflux.shop.Happening;
import io.github.reactivelock.examples.webflux.shop.Happening.What;
import io.github.reactivelock.examples.webflux.shop.Numbers;
import io.github.reactivelock.examples.webflux.shop.Receipt;
import io.github.reactivelock.examples.webflux.shop.Shop;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The processes of the tills: starts them, kills them, passes orders on, and tells the board what they report. */
@Component
final class Tills {

    private static final Logger log = LoggerFactory.getLogger(Tills.class);

    /** A till that runs. */
    private record Open(String name, ChildProcess process, WebClient http) {}

    private final Map<String, Open> open = new ConcurrentHashMap<>();
    /** Of this run alone, in a Redis that may have others. */
    private final String shelf = "sold:" + UUID.randomUUID();

    private final Settings settings;
    private final Board board;
    private final LockClient locks;

    Tills(Settings settings, Board board, LockClient locks) {
        this.settings = settings;
        this.board = board;
        this.locks = locks;
    }

    /** Starts a till; completes when it takes orders. */
    Mono<Void> start(String name) {
        return Mono.defer(() -> {
            if (stateOf(name) != View.State.DOWN) {
                return Mono.error(unavailable(name + " is there already"));
            }
            board.change(view -> view.till(name, View.State.STARTING));
            return Mono.fromCallable(() -> launch(name))
                    .subscribeOn(Schedulers.boundedElastic())
                    .flatMap(process -> process.answer().map(port -> open(name, process, port)))
                    .flatMap(this::listen)
                    .doOnError(failed -> board.change(view -> view.till(name, View.State.DOWN)));
        });
    }

    /** As a crash does: the till gives nothing back. */
    void kill(String name) {
        running(name).process().kill();
    }

    Mono<Receipt> order(String name, String item, int number) {
        return Mono.defer(() -> running(name)
                .http()
                .post()
                .uri("/orders/{item}?number={number}", item, number)
                .exchangeToMono(answer -> answer.statusCode().isError()
                        ? refused(answer)
                        : answer.bodyToMono(Receipt.class))
                .doOnNext(receipt -> board.change(view -> view.lane(item, lane -> lane.sold(receipt.sold()))))
                .onErrorMap(
                        failed -> !(failed instanceof ResponseStatusException),
                        failed -> unavailable("order " + number + " was not served, because " + name + " is gone")));
    }

    /** An operator takes a lock away, at the endpoint that the starter gives each till. */
    Mono<Void> takeAway(String key) {
        return Flux.fromIterable(Board.TILLS)
                .filter(open::containsKey)
                .next()
                .flatMap(name -> running(name)
                        .http()
                        .method(HttpMethod.DELETE)
                        .uri("/actuator/locks/{key}", key)
                        .exchangeToMono(ClientResponse::releaseBody));
    }

    /** Ends all of them, which give back what they hold. */
    Mono<Void> close() {
        return Flux.fromIterable(open.values())
                .flatMap(till -> till.process().end(Mono.fromRunnable(till.process()::terminate)))
                .then();
    }

    private ChildProcess launch(String name) throws IOException {
        return ChildProcess.start(
                name,
                Redirect.PIPE,
                Shop.class,
                "--reactive-lock.name=" + name,
                "--spring.data.redis.url=" + settings.redis(),
                "--shelf=" + shelf,
                "--packing=" + settings.packing().toMillis() + "ms",
                "--server.port=0");
    }

    private Open open(String name, ChildProcess process, String port) {
        Open till = new Open(name, process, WebClient.create("http://127.0.0.1:" + port));
        open.put(name, till);
        return till;
    }

    /** Completes when the till reports; goes on until it ends. */
    private Mono<Void> listen(Open till) {
        return Mono.create(opened -> {
            Mono<Void> news = events(till, "/news", Happening.class)
                    .doOnNext(happening -> {
                        if (happening.what() == What.OPEN) {
                            board.change(view -> view.till(till.name(), View.State.UP));
                            opened.success();
                        }
                        board.change(view -> view.lane(happening.item(), lane -> lane.heard(till.name(), happening)));
                    })
                    .then();
            Mono<Void> numbers = events(till, "/numbers", Numbers.class)
                    .doOnNext(now -> board.change(view -> view.till(till.name(), now)))
                    .then();
            Disposable unused = Mono.firstWithSignal(news.onErrorComplete(), till.process().exit())
                    .and(numbers.onErrorComplete())
                    .doFinally(ended -> closed(till))
                    .subscribe(nothing -> {}, opened::error);
        });
    }

    private static <T> Flux<T> events(Open till, String path, Class<T> type) {
        return till.http()
                .get()
                .uri(path)
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(type);
    }

    /** What it held is free when the lease is over. */
    private void closed(Open till) {
        boolean unused = open.remove(till.name(), till);
        board.change(view -> view.everyLane(lane -> lane.killed(till.name())).till(till.name(), View.State.DOWN));
        Disposable watching = Flux.fromIterable(board.view().lanes())
                .filter(lane -> lane.state() == Lane.State.ABANDONED)
                .flatMap(lane -> {
                    int order = lane.served().get(0).order();
                    return locks.awaitRelease("item:" + lane.item())
                            .doOnSuccess(free ->
                                    board.change(view -> view.lane(lane.item(), one -> one.leaseOver(order))));
                })
                .subscribe(nothing -> {}, failed -> log.warn("nobody knows whether the locks of {} are free", till.name(), failed));
    }

    private View.State stateOf(String name) {
        return board.view().tills().stream()
                .filter(till -> till.name().equals(name))
                .map(View.Till::state)
                .findFirst()
                .orElseThrow(() -> unavailable("there are the tills " + Board.TILLS));
    }

    private Open running(String name) {
        Open till = open.get(name);
        if (till == null) {
            throw unavailable(name + " is closed; start it");
        }
        return till;
    }

    private static Mono<Receipt> refused(ClientResponse answer) {
        return answer.bodyToMono(ProblemDetail.class)
                .flatMap(problem -> Mono.error(unavailable(String.valueOf(problem.getDetail()))));
    }

    private static ResponseStatusException unavailable(String why) {
        return new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, why);
    }
}
