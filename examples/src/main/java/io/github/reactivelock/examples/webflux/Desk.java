package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.webflux.shop.Receipt;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the page asks for. */
@RestController
final class Desk {

    private static final int RUSH = 6;
    private static final int LONGEST_OUTAGE = 10;

    private final AtomicInteger orders = new AtomicInteger();
    private final Tills tills;
    private final Board board;
    private final Outage outage;

    Desk(Tills tills, Board board, Outage outage) {
        this.tills = tills;
        this.board = board;
        this.outage = outage;
    }

    @PostMapping("/tills/{till}/orders/{item}")
    Mono<Receipt> order(@PathVariable String till, @PathVariable String item) {
        return known(till, item) ? tills.order(till, item, orders.incrementAndGet()) : unknown();
    }

    /** Several orders in one request: a browser has at most six requests under way, and the board takes one of them. */
    @PostMapping("/rushes/{item}")
    Flux<Receipt> rush(@PathVariable String item) {
        return Flux.range(1, RUSH / Board.TILLS.size())
                .flatMapIterable(round -> Board.TILLS)
                .flatMap(till -> order(till, item));
    }

    @PostMapping("/tills/{till}/kill")
    Mono<Void> kill(@PathVariable String till) {
        return Mono.fromRunnable(() -> tills.kill(till));
    }

    @PostMapping("/tills/{till}/start")
    Mono<Void> start(@PathVariable String till) {
        return tills.start(till);
    }

    @PostMapping("/locks/{item}/take-away")
    Mono<Void> takeAway(@PathVariable String item) {
        return Board.ITEMS.contains(item) ? tills.takeAway("item:" + item) : unknown();
    }

    @PostMapping("/outages")
    Mono<Void> outage(@RequestParam int seconds) {
        return outage.of(Duration.ofSeconds(Math.max(1, Math.min(seconds, LONGEST_OUTAGE))));
    }

    @GetMapping(path = "/board", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<View> board() {
        return board.live();
    }

    private static boolean known(String till, String item) {
        return Board.TILLS.contains(till) && Board.ITEMS.contains(item);
    }

    private static <T> Mono<T> unknown() {
        return Mono.error(new ResponseStatusException(
                HttpStatus.NOT_FOUND, "there are the tills " + Board.TILLS + " and the items " + Board.ITEMS));
    }
}
