package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.LockException;
import io.github.reactivelock.examples.Launcher;
import java.util.List;
import java.util.Map;
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

/** The service over HTTP. */
@RestController
final class Handlers {

    private static final int RUSH = 6;

    private final Map<String, Till> tills;
    private final Board board;

    Handlers(Map<String, Till> tills, Board board) {
        this.tills = tills;
        this.board = board;
    }

    @PostMapping("/tills/{till}/orders/{item}")
    Mono<Receipt> order(@PathVariable String till, @PathVariable String item) {
        Till open = tills.get(till);
        if (open == null || !Board.ITEMS.contains(item)) {
            return Mono.error(new ResponseStatusException(
                    HttpStatus.NOT_FOUND, "there are the tills " + tills.keySet() + " and the items " + Board.ITEMS));
        }
        return open.order(item);
    }

    /** Several orders in one request: a browser has at most six requests under way, and the board takes one of them. */
    @PostMapping("/rushes/{item}")
    Flux<Receipt> rush(@PathVariable String item) {
        return Flux.range(1, RUSH / tills.size())
                .flatMapIterable(round -> tills.keySet())
                .flatMap(till -> order(till, item));
    }

    @GetMapping(path = "/board", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<List<Lane>> board() {
        return board.live();
    }

    @ExceptionHandler(LockException.class)
    ProblemDetail notServed(LockException why) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, Launcher.explain(why));
    }
}
