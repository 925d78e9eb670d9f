package io.github.reactivelock.examples.flashsale;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Print;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Sends all buyers of one round to the instances at once and counts the answers. If an instance dies, the door sends
 * its buyers without an answer to the others, as a load balancer would. Safe for the threads of Redis, timer and
 * process exits: they share {@code unserved} and {@code answers}, and a buyer is in exactly one of them.
 */
final class Door {

    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(20);

    private final Fleet fleet;
    private final Round round;
    private final int buyers;
    private final int stock;
    private final Map<Integer, ChildProcess> unserved = new ConcurrentHashMap<>();
    private final Map<Integer, Answer> answers = new ConcurrentHashMap<>();
    private final long opened = System.nanoTime();

    private Door(Fleet fleet, Round round, int buyers, int stock) {
        this.fleet = fleet;
        this.round = round;
        this.buyers = buyers;
        this.stock = stock;
    }

    static Mono<Result> open(Fleet fleet, Round round, int buyers, int stock) {
        return Mono.defer(() -> new Door(fleet, round, buyers, stock).sell());
    }

    private Mono<Result> sell() {
        Print.line("%nRound %s", round.title());
        Mono<Void> failed = Mono.when(progress(), deaths());
        return fleet.redis()
                .commands()
                .hset(fleet.names().sale(round), Sale.LEFT, "" + stock)
                .then(distribute())
                .then(Mono.firstWithSignal(allServed(), failed))
                .then(Mono.defer(this::count));
    }

    private Mono<Void> distribute() {
        List<ChildProcess> alive = fleet.alive();
        IntStream.rangeClosed(1, buyers).forEach(buyer -> unserved.put(buyer, alive.get(buyer % alive.size())));
        return Flux.fromIterable(alive).flatMap(this::send).then();
    }

    private Mono<Void> send(ChildProcess instance) {
        List<String> lines = unserved.entrySet().stream()
                .filter(entry -> entry.getValue().equals(instance))
                .map(entry -> round + " " + entry.getKey())
                .toList();
        return fleet.tell(instance, lines);
    }

    private Mono<Void> allServed() {
        int killAt = Math.min(buyers, stock) / 2 + 1;
        return fleet.redis()
                .take(fleet.names().answers())
                .timeout(
                        LONGEST_SILENCE,
                        Mono.error(() -> new IllegalStateException("no instance has answered for " + LONGEST_SILENCE)))
                .map(Answer::parse)
                // If an instance dies after its answer, its buyer may get a second answer, even a round later.
                .filter(answer -> answer.round() == round && answers.putIfAbsent(answer.buyer(), answer) == null)
                .doOnNext(answer -> unserved.remove(answer.buyer()))
                .takeUntil(answer -> answers.size() == buyers)
                .filter(answer -> round == Round.KILLED && answer.sold() && sold() == killAt)
                .flatMap(answer -> fleet.killHolder(fleet.names().lock(round)))
                .then();
    }

    private long sold() {
        return answers.values().stream().filter(Answer::sold).count();
    }

    /** Never completes: there may always be another one. */
    private Mono<Void> deaths() {
        return Flux.fromIterable(fleet.alive())
                .flatMap(instance -> instance.exit().then(Mono.defer(() -> sendElsewhere(instance))))
                .then(Mono.never());
    }

    private Mono<Void> sendElsewhere(ChildProcess dead) {
        List<ChildProcess> alive = fleet.alive();
        if (alive.isEmpty()) {
            return Mono.error(new IllegalStateException("no instance is left; see its output above"));
        }
        Map<ChildProcess, List<String>> lines = new ConcurrentHashMap<>();
        unserved.keySet().forEach(buyer -> {
            ChildProcess other = alive.get(buyer % alive.size());
            if (unserved.replace(buyer, dead, other)) {
                lines.computeIfAbsent(other, any -> new ArrayList<>()).add(round + " " + buyer);
            }
        });
        Print.line(
                "  the other instances take over %d buyers of %s",
                lines.values().stream().mapToInt(List::size).sum(), dead.name());
        return Flux.fromIterable(lines.entrySet())
                .flatMap(part -> fleet.tell(part.getKey(), part.getValue()))
                .then();
    }

    /** Never completes: it stops with the round. */
    private Mono<Void> progress() {
        return Flux.interval(Duration.ofSeconds(1))
                .doOnNext(second -> {
                    long sold = sold();
                    Print.line(
                            "  %2d s: %,d of %,d buyers served, %,d tickets sold",
                            second + 1, answers.size(), buyers, sold);
                })
                .then();
    }

    private Mono<Result> count() {
        Duration took = Duration.ofNanos(System.nanoTime() - opened);
        return fleet.redis()
                .commands()
                .hgetall(fleet.names().sale(round))
                .collectMap(field -> field.getKey(), field -> field.getValue())
                .map(sale -> new Result(
                        round, answers.values().stream().map(Answer::waited).toList(), Ledger.of(stock, sale), took))
                .doOnNext(result -> Print.line(
                        "  done in %.1f s: %,d receipts for %,d tickets",
                        took.toMillis() / 1e3, result.ledger().sold(), stock));
    }
}
