package io.github.reactivelock.consul;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Questions that Consul answers when something changes. Each stands on a connection of its own; where there are more of
 * them than connections, they take turns, because Consul ends each after some seconds.
 */
final class Watches {

    /** Consul adds up to a sixteenth. */
    private static final Duration WAIT = Duration.ofSeconds(8);
    /** Then an agent is taken for silent. */
    private static final Duration LONGEST = Duration.ofSeconds(11);

    private final Agents agents;
    private final Keys keys;

    Watches(Agents agents, Keys keys) {
        this.agents = agents;
        this.keys = keys;
    }

    /** Completes when a key is not as it was any more; an error is an interruption. */
    Mono<Void> untilChanged(Entry known) {
        return Mono.defer(() -> {
            AtomicLong index = new AtomicLong(known.modified());
            return Mono.defer(() -> ask(known.key(), "", index))
                    .map(answer -> keys.entries(answer).stream().anyMatch(known::isAt))
                    .repeat()
                    .takeUntil(isAsItWas -> !isAsItWas)
                    .then();
        });
    }

    /** The keys in a folder, now and after each change; an error is an interruption. */
    Flux<List<Entry>> below(String folder) {
        return Flux.defer(() -> {
            AtomicLong index = new AtomicLong();
            Mono<List<Entry>> now = agents.ask(Question.get("kv/" + folder + "?recurse&consistent"))
                    .doOnNext(answer -> index.set(answer.index()))
                    .map(keys::entries);
            Flux<List<Entry>> later = Mono.defer(() -> ask(folder, "&recurse", index))
                    .map(keys::entries)
                    .repeat();
            return Flux.concat(now, later).distinctUntilChanged(Watches::seen);
        });
    }

    private static List<Long> seen(List<Entry> entries) {
        return entries.stream()
                .flatMap(entry -> Stream.of(entry.created(), entry.modified()))
                .toList();
    }

    /** An index that has gone back, after a restored snapshot, begins anew. */
    private Mono<Answer> ask(String key, String more, AtomicLong index) {
        long known = index.get();
        return agents.watch(
                        Question.get("kv/" + key + "?index=" + Math.max(1, known) + "&wait=" + WAIT.toSeconds() + "s"
                                + more),
                        LONGEST)
                .takeUntilOther(agents.changes())
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("another agent is asked")))
                .doOnNext(answer -> index.set(answer.index() < known ? 0 : answer.index()));
    }
}
