package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.LockException;
import io.github.reactivelock.examples.Launcher;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The shop over HTTP. */
@RestController
final class Orders {

    private final Checkout checkout;
    private final LockActivity activity;

    Orders(Checkout checkout, LockActivity activity) {
        this.checkout = checkout;
        this.activity = activity;
    }

    /** Waits in the queue for the item, behind the customers of all instances; hanging up leaves it. */
    @PostMapping("/orders/{item}")
    Mono<Receipt> order(@PathVariable String item) {
        return Shelf.ITEMS.contains(item)
                ? checkout.sell(item, null)
                : Mono.error(new ResponseStatusException(HttpStatus.NOT_FOUND, "there are the items " + Shelf.ITEMS));
    }

    /** What the locks of this instance do, now and after each change. */
    @GetMapping(path = "/activity", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<Activity> activity() {
        return activity.live();
    }

    @ExceptionHandler(LockException.class)
    ProblemDetail notServed(LockException why) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, Launcher.explain(why));
    }
}
