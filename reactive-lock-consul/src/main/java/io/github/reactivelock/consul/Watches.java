package io.github.reactivelock.consul;

import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Questions that Consul answers when something changes. Each stands on a connection of its own. Where there are more of
 * them than connections, the others share one question about all keys. Safe for use from any thread.
 */
final class Watches {

    /** So many have a connection for themselves; what is left is for the question that the others share. */
    static final int ALONE = Agents.WATCHES - 4;

    /** Consul adds up to a sixteenth. */
    private static final Duration WAIT = Duration.ofSeconds(8);
    /** Then an agent is taken for silent. */
    private static final Duration LONGEST = Duration.ofSeconds(11);
    /** From an answer about all keys to the next question, for each key in it: some megabytes a second at most. */
    private static final Duration PAUSE_FOR_A_KEY = Duration.ofNanos(100_000);

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);
    /** After an answer without an index, which a proxy may take out: the next question is answered at once. */
    private static final Duration WITHOUT_INDEX = Duration.ofSeconds(1);

    private final Agents agents;
    private final ClaimKeys keys;
    private final String root;
    private final Semaphore places = new Semaphore(ALONE);
    private final AtomicReference<@Nullable Flux<Everything>> shared = new AtomicReference<>();

    /** An answer about a folder. */
    private record Listing(long index, List<Entry> entries) {}

    /** An answer about all keys, each by its name. */
    private record Everything(long index, NavigableMap<String, Entry> entries) {

        static Everything of(Listing listing) {
            NavigableMap<String, Entry> named = new TreeMap<>();
            listing.entries.forEach(entry -> named.put(entry.key(), entry));
            return new Everything(listing.index, named);
        }

        /** An answer from before an entry was made does not show it. */
        boolean isOver(Entry known) {
            Entry found = entries.get(known.key());
            return index >= known.modified() && (found == null || !known.isAt(found));
        }

        Listing below(String folder) {
            return new Listing(
                    index,
                    List.copyOf(
                            entries.subMap(folder, folder + Character.MAX_VALUE).values()));
        }
    }

    Watches(Agents agents, ClaimKeys keys, KeyLayout names) {
        this.agents = agents;
        this.keys = keys;
        this.root = names.root();
    }

    /** Completes when a key is not as it was any more; an error is an interruption. */
    Mono<Void> untilChanged(Entry known) {
        Mono<Void> alone = Mono.defer(() -> {
            AtomicLong index = new AtomicLong(known.modified());
            return Mono.defer(() -> ask(known.key(), "", index))
                    .map(answer -> keys.entries(answer).stream().anyMatch(known::isAt))
                    .repeat()
                    .takeUntil(isAsItWas -> !isAsItWas)
                    .then();
        });
        Mono<Void> together =
                everything().filter(all -> all.isOver(known)).next().then();
        return placed(alone, together).then();
    }

    /** The keys in a folder, now and after each change; an error is an interruption. */
    Flux<List<Entry>> below(String folder) {
        Flux<Listing> together = now(folder)
                .flatMapMany(now -> everything()
                        .filter(all -> all.index >= now.index)
                        .map(all -> all.below(folder))
                        .startWith(now));
        return placed(listings(folder, Mono.empty()), together)
                .map(Listing::entries)
                .distinctUntilChanged(Watches::seen);
    }

    private <T> Flux<T> placed(Publisher<T> alone, Publisher<T> together) {
        return Flux.using(places::tryAcquire, hasPlace -> hasPlace ? alone : together, hasPlace -> {
            if (hasPlace) {
                places.release();
            }
        });
    }

    private static List<Long> seen(List<Entry> entries) {
        return entries.stream()
                .flatMap(entry -> Stream.of(entry.created(), entry.modified()))
                .toList();
    }

    /** One question for all that have no place. A later subscriber gets the latest answer first. */
    private Flux<Everything> everything() {
        return Flux.defer(() -> shared.updateAndGet(known -> known == null ? askedOnce() : known));
    }

    private Flux<Everything> askedOnce() {
        return Flux.defer(() -> {
                    AtomicInteger known = new AtomicInteger();
                    Mono<Long> pause = Mono.defer(() -> Mono.delay(pause(known.get()), DriverThreads.timer()));
                    // The flow that comes first may be a user's, and it goes on for the others.
                    return Carried.byNobody(listings(root, pause)
                            .doOnNext(listing -> known.set(listing.entries.size()))
                            .map(Everything::of));
                })
                .doFinally(signal -> shared.set(null))
                .replay(1)
                .refCount();
    }

    private static Duration pause(int keys) {
        Duration forAll = PAUSE_FOR_A_KEY.multipliedBy(keys);
        return forAll.compareTo(SHORTEST_PAUSE) > 0 ? forAll : SHORTEST_PAUSE;
    }

    private Mono<Listing> now(String folder) {
        return agents.ask(Question.get("kv/" + folder + "?recurse&consistent")).map(this::listing);
    }

    /** Now and after each change, or when Consul has waited long enough. */
    private Flux<Listing> listings(String folder, Mono<?> beforeEach) {
        return Flux.defer(() -> {
            AtomicLong index = new AtomicLong();
            Flux<Listing> later = Mono.defer(() -> ask(folder, "&recurse", index))
                    .map(this::listing)
                    .delaySubscription(beforeEach)
                    .repeat();
            return Flux.concat(now(folder).doOnNext(now -> index.set(now.index)), later);
        });
    }

    private Listing listing(Answer answer) {
        return new Listing(answer.index(), keys.entries(answer));
    }

    /** An index that has gone back, after a restored snapshot, begins anew. */
    private Mono<Answer> ask(String key, String more, AtomicLong index) {
        long known = index.get();
        Mono<Answer> answer = agents.watch(
                Question.get("kv/" + key + "?index=" + Math.max(1, known) + "&wait=" + WAIT.toSeconds() + "s" + more),
                LONGEST);
        return (known == 0 ? answer.delaySubscription(WITHOUT_INDEX, DriverThreads.timer()) : answer)
                .takeUntilOther(agents.changes())
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("another agent is asked")))
                .doOnNext(said -> index.set(said.index() < known ? 0 : said.index()));
    }
}
