package io.github.reactivelock.simulation;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testkit.ForwardingBackend;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * A store that carries a claim out at once, and lets the client hear of its answers and of its pushes when told to, so
 * that either may overtake the other.
 */
final class LateAnswers extends ForwardingBackend {

    private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> pushes = new ConcurrentLinkedQueue<>();

    LateAnswers(LockBackend store) {
        super(store);
    }

    /** False if there was none to give. */
    boolean answerOne() {
        return next(answers);
    }

    /** False if there was none to give. */
    boolean pushOne() {
        return next(pushes);
    }

    private static boolean next(Queue<Runnable> kept) {
        Runnable first = kept.poll();
        if (first != null) {
            first.run();
        }
        return first != null;
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.create(sink -> {
            var unused = super.claim(claim)
                    .subscribe(
                            answer -> answers.add(() -> sink.success(answer)),
                            error -> answers.add(() -> sink.error(error)));
        });
    }

    @Override
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            var listening = super.signals().subscribe(signal -> pushes.add(() -> push(sink, signal)), sink::error);
            var unused = sink.onDispose(listening);
        });
    }

    private static void push(FluxSink<Signal> client, Signal signal) {
        var unused = client.next(signal);
    }
}
