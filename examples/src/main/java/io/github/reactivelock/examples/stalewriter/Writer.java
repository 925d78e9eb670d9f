package io.github.reactivelock.examples.stalewriter;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Store;
import io.github.reactivelock.state.StaleTokenException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A process that takes the lock, and writes, when its parent asks for it. */
final class Writer {

    static final String TAKE = "take";
    static final String WRITTEN = "written";
    static final String REFUSED = "refused";

    private static final Duration LEASE = Duration.ofSeconds(2);

    private Writer() {}

    static ChildProcess start(String name, Store store, String address, boolean guarded, long value)
            throws IOException {
        return ChildProcess.start(
                name,
                Redirect.PIPE,
                Writer.class,
                name,
                store.name(),
                address,
                Boolean.toString(guarded),
                Long.toString(value));
    }

    /** Arguments: its name, the store, its address, whether to write through the guard, and what. */
    public static void main(String[] args) throws IOException {
        Store store = Store.valueOf(args[1]);
        boolean guarded = Boolean.parseBoolean(args[3]);
        long value = Long.parseLong(args[4]);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            Resource resource = Resource.of(store, args[2]);
            LockClient lock = LockClient.builder(store.backend(args[2]))
                    .name(args[0])
                    .options(LockOptions.defaults().withLease(LEASE))
                    .build();
            // So that first-time work is not slow while the lock is held.
            resource.read().block();
            orders.readLine();
            LockHandle held = lock.acquire(Resource.NAME).blockOptional().orElseThrow();
            ChildProcess.reply(Long.toString(held.fencingToken()));
            // This was the last look at the hold: the process may be stopped between here and the write.
            if (held.isHeld() && orders.readLine() != null) {
                Mono<Void> write = guarded ? resource.writeGuarded(value, held.fencingToken()) : resource.write(value);
                ChildProcess.reply(write.thenReturn(WRITTEN)
                        .onErrorReturn(StaleTokenException.class, REFUSED)
                        .blockOptional()
                        .orElseThrow());
            }
            orders.readLine();
        } catch (RuntimeException e) {
            System.err.println(args[0] + ": " + Launcher.explain(e));
        }
        System.exit(0);
    }
}
