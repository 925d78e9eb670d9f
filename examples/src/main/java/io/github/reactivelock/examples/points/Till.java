package io.github.reactivelock.examples.points;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Sql;
import io.github.reactivelock.examples.Store;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One process of the application. It books the same change on each account that it gets. */
final class Till {

    static final String WITHOUT = "without";

    /** The pause between read and write, for the work of a real application. */
    private static final Duration THINKING = Duration.ofMillis(5);

    /** A booking may be late, but a busy machine must not skip it. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Sql bank;
    private final @Nullable LockClient lock;
    private final long change;

    private Till(Sql bank, @Nullable LockClient lock, long change) {
        this.bank = bank;
        this.lock = lock;
        this.change = change;
    }

    static ChildProcess start(String bank, String store, String address, long change) throws IOException {
        String name = change < 0 ? "spender" : "earner";
        return ChildProcess.start(name, Redirect.PIPE, Till.class, bank, store, address, Long.toString(change));
    }

    /** Arguments: the bank's URL, the store of the lock or {@link #WITHOUT}, its address, the change. */
    public static void main(String[] args) throws IOException {
        LockClient lock = args[1].equals(WITHOUT)
                ? null
                : LockClient.builder(Store.valueOf(args[1]).backend(args[2]))
                        .commandTimeout(PATIENCE)
                        .build();
        Till till = new Till(new Sql(args[0]), lock, Long.parseLong(args[3]));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            // Only the main thread ever waits. Without its parent there are no more lines.
            for (String account = orders.readLine(); account != null; account = orders.readLine()) {
                till.serve(account).block();
                ChildProcess.reply(account);
            }
        } catch (RuntimeException e) {
            System.err.println("till: " + Launcher.explain(e));
        }
        System.exit(0);
    }

    private Mono<Void> serve(String account) {
        return lock == null ? book(account) : lock.withLock("account:" + account, book(account));
    }

    // Read, compute, write: correct only if no other process does the same meanwhile.
    private Mono<Void> book(String account) {
        return bank.number("SELECT points FROM account WHERE id = " + account)
                .filter(points -> points + change >= 0)
                .delayElement(THINKING)
                .flatMap(points ->
                        bank.change("UPDATE account SET points = " + (points + change) + " WHERE id = " + account));
    }
}
