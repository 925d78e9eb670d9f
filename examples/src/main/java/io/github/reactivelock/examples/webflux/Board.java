package io.github.reactivelock.examples.webflux;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/**
 * The state of the page. Safe for use from any thread: the view is replaced atomically, and readers learn that something changed,
 * not what.
 */
@Component
final class Board {

    static final List<String> ITEMS = List.of("apples", "bread", "coffee");
    static final List<String> TILLS = List.of("till-1", "till-2");

    private static final Duration EMITTING_LIMIT = Duration.ofSeconds(1);

    private final AtomicReference<View> view;
    /** Remembers the latest change for slow readers: a sink without memory would fail then, for all. */
    private final Sinks.Many<String> changes = Sinks.many().replay().latest();

    Board(Settings settings) {
        this.view = new AtomicReference<>(View.of(ITEMS, TILLS, settings.ownRedis()));
    }

    /** The view now, and again after each change; a slow reader skips to the latest. */
    Flux<View> live() {
        return Flux.merge(changes.asFlux(), Flux.just("now"))
                .onBackpressureLatest()
                .map(changed -> view())
                .distinctUntilChanged();
    }

    View view() {
        return view.get();
    }

    void change(UnaryOperator<View> how) {
        View unused = view.updateAndGet(how);
        changes.emitNext("changed", Sinks.EmitFailureHandler.busyLooping(EMITTING_LIMIT));
    }
}
