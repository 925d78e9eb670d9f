package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.webflux.shop.Shelf;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What the page asks for. An order is answered at once: a browser has at most six requests under way, and the board is
 * one.
 */
@RestController
final class Front {

    private static final Logger log = LoggerFactory.getLogger(Front.class);

    private static final int RUSH_AT_EACH = 3;

    private final Instances instances;
    private final Board board;

    Front(Instances instances, Board board) {
        this.instances = instances;
        this.board = board;
    }

    @GetMapping(path = "/board", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<View> board() {
        return board.live();
    }

    @PostMapping("/instances/{name}/orders/{item}")
    @ResponseStatus(HttpStatus.ACCEPTED)
    void order(@PathVariable String name, @PathVariable String item) {
        Shop shop = board.shop(name);
        if (!shop.runs()) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, name + " does not run");
        }
        send(shop, known(item));
    }

    /** Several orders at once, at each instance in turn. */
    @PostMapping("/rushes/{item}")
    @ResponseStatus(HttpStatus.ACCEPTED)
    void rush(@PathVariable String item) {
        IntStream.range(0, RUSH_AT_EACH)
                .boxed()
                .flatMap(round -> Instances.NAMES.stream())
                .map(board::shop)
                .filter(Shop::runs)
                .forEach(shop -> send(shop, known(item)));
    }

    @PostMapping("/instances/{name}/start")
    @ResponseStatus(HttpStatus.ACCEPTED)
    void start(@PathVariable String name) {
        instances.start(name);
    }

    @PostMapping("/instances/{name}/kill")
    Mono<Void> kill(@PathVariable String name) {
        return instances.get(name).kill();
    }

    @PostMapping("/instances/{name}/pause")
    Mono<Void> pause(@PathVariable String name) {
        return instances.get(name).pause();
    }

    @PostMapping("/instances/{name}/resume")
    Mono<Void> resume(@PathVariable String name) {
        return instances.get(name).resume();
    }

    /** Whose instance has ended meanwhile hears nothing; that is news already. */
    private void send(Shop shop, String item) {
        WebClient.create(shop.address())
                .post()
                .uri("/orders/{item}", item)
                .exchangeToMono(answer -> answer.statusCode().is2xxSuccessful()
                        ? answer.releaseBody()
                        : answer.bodyToMono(ProblemDetail.class)
                                .doOnNext(why -> board.change(
                                        fleet -> fleet.say(shop.name() + " sold no " + item + ": " + why.getDetail())))
                                .then())
                .subscribe(sold -> {}, gone -> log.debug("{} has ended", shop.name(), gone));
    }

    private static String known(String item) {
        if (!Shelf.ITEMS.contains(item)) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND, "there are the items " + Shelf.ITEMS);
        }
        return item;
    }
}
