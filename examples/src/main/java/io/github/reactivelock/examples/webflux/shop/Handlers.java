package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.LockException;
import io.github.reactivelock.examples.Launcher;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The till over HTTP. */
@RestController
final class Handlers {

    private static final Duration EVERY = Duration.ofMillis(250);

    private final Till till;
    private final News news;
    private final MeterRegistry meters;

    Handlers(Till till, News news, MeterRegistry meters) {
        this.till = till;
        this.news = news;
        this.meters = meters;
    }

    @PostMapping("/orders/{item}")
    Mono<Receipt> order(@PathVariable String item, @RequestParam int number) {
        return till.sell(item, number, null).contextWrite(context -> News.ofOrder(context, number));
    }

    @GetMapping(path = "/news", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<Happening> news() {
        return news.live();
    }

    @GetMapping(path = "/numbers", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<Numbers> numbers() {
        return Flux.interval(Duration.ZERO, EVERY)
                .onBackpressureLatest()
                .map(tick -> Numbers.of(meters))
                .distinctUntilChanged();
    }

    @ExceptionHandler(LockException.class)
    ProblemDetail notServed(LockException why) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, Launcher.explain(why));
    }
}
