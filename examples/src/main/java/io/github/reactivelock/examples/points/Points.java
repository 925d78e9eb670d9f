package io.github.reactivelock.examples.points;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.Sql;
import io.github.reactivelock.examples.Store;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The command: two processes book on the same accounts, without a lock and with each store's lock; it counts the
 * errors.
 */
@Command(
        name = "examples/run points",
        description =
                "An account has 1,000 points. One process buys for 999 while another credits 100: 101 are left,"
                        + " or points appeared from nowhere. Many rounds without a lock, and as many with the lock of each store.",
        usageHelpAutoWidth = true,
        showDefaultValues = true)
public final class Points implements Callable<Integer> {

    private static final long BEFORE = 1_000;
    private static final long PURCHASE = -999;
    private static final long CREDIT = 100;
    private static final long AFTER = BEFORE + PURCHASE + CREDIT;

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Option(names = "--rounds", paramLabel = "N", description = "accounts, each booked on by both processes at once")
    private int rounds = 40;

    @Option(
            names = "--stores",
            paramLabel = "STORE",
            split = ",",
            description = "whose locks to use: ${COMPLETION-CANDIDATES}")
    private List<Store> stores = List.of(Store.values());

    @Spec
    private @Nullable CommandSpec spec;

    private Points() {}

    /**
     * Runs the example and ends the JVM: 0 if all accounts were right with the locks, 1 if not or if a server did not
     * start, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Points(), args);
    }

    @Override
    public Integer call() {
        if (rounds < 1 || rounds > 10_000) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "--rounds must be 1 to 10,000 but is " + rounds);
        }
        Print.line(
                "%,d accounts of %,d points: a purchase of %d and a credit of %d at once leave %d",
                rounds, BEFORE, -PURCHASE, CREDIT, AFTER);
        // Only the main thread ever waits.
        return Store.POSTGRESQL.use(this::play).blockOptional().orElseThrow();
    }

    /** The points are in PostgreSQL, for every store of locks. */
    private Mono<Integer> play(String bank) {
        return round(bank, Till.WITHOUT, "")
                .thenMany(Flux.fromIterable(stores))
                .concatMap(store -> store == Store.POSTGRESQL
                        ? round(bank, store.name(), bank)
                        : store.use(address -> round(bank, store.name(), address)))
                .all(wrong -> wrong == 0)
                .map(exact -> exact ? 0 : 1);
    }

    /** How many accounts were wrong. */
    private Mono<Long> round(String bank, String store, String address) {
        Sql sql = new Sql(bank);
        Mono<Void> accounts = sql.change("DROP TABLE IF EXISTS account")
                .then(sql.change("CREATE TABLE account (id BIGINT PRIMARY KEY, points BIGINT NOT NULL)"))
                .then(sql.change(
                        "INSERT INTO account SELECT i, " + BEFORE + " FROM generate_series(1, " + rounds + ") AS i"));
        return accounts.then(Mono.usingWhen(
                        Flux.just(PURCHASE, CREDIT)
                                .concatMap(change -> Mono.fromCallable(() -> Till.start(bank, store, address, change))
                                        .subscribeOn(Schedulers.boundedElastic()))
                                .collectList(),
                        tills -> Flux.range(1, rounds)
                                .concatMap(account -> booked(tills, Integer.toString(account)))
                                .then(),
                        tills -> Flux.fromIterable(tills)
                                .flatMap(till -> till.end(Mono.fromRunnable(till::terminate)))
                                .then()))
                .then(Mono.defer(() -> count(sql, store)));
    }

    private static Mono<Void> booked(List<ChildProcess> tills, String account) {
        return Flux.fromIterable(tills)
                .flatMap(till -> till.tell(account).then(till.answer()))
                .then();
    }

    private static Mono<Long> count(Sql sql, String store) {
        String wrong = "SELECT count(*) FROM account WHERE points <> " + AFTER;
        String gained = "SELECT coalesce(sum(points - " + AFTER + "), 0)::bigint FROM account WHERE points > " + AFTER;
        String lost = "SELECT coalesce(sum(" + AFTER + " - points), 0)::bigint FROM account WHERE points < " + AFTER;
        return Mono.zip(sql.number(wrong), sql.number(gained), sql.number(lost))
                .doOnNext(counted -> Print.line(
                        "lock=%-10s accounts-wrong=%d points-from-nowhere=%,d points-lost=%,d",
                        store.toLowerCase(java.util.Locale.ROOT), counted.getT1(), counted.getT2(), counted.getT3()))
                .map(counted -> counted.getT1());
    }
}
