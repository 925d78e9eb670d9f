package io.github.reactivelock.faults;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Everything a backend ever asks of Redis, as one user. */
final class Permissions {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final LockBackend backend;
    private final RedisServer server;

    private Permissions(RedisServer server, String user, String password) {
        this.server = server;
        backend = LettuceLockBackend.connect("redis://" + user + ":" + password + "@127.0.0.1:" + server.port());
    }

    /** The first thing that this user cannot do, or an empty text. */
    static String missing(RedisServer server, String user, String password) {
        server.command("FLUSHALL");
        Permissions permissions = new Permissions(server, user, password);
        try {
            permissions.useEverything();
            return "";
        } catch (RuntimeException | InterruptedException e) {
            return String.valueOf(e);
        } finally {
            permissions.backend.close().block(LIMIT);
        }
    }

    private void useEverything() throws InterruptedException {
        BlockingQueue<Object> signals = new LinkedBlockingQueue<>();
        Disposable listening = backend.signals().subscribe(signals::add, signals::add);
        need("signals", next(signals) instanceof Signal.Reconnected);
        Claim owner = claim(Claim.Mode.QUEUE);
        Claim waiter = claim(Claim.Mode.QUEUE);
        Claim leaver = claim(Claim.Mode.QUEUE);
        need("claim", ask(backend.claim(owner)) instanceof ClaimResult.Granted);
        need("the same claim", ask(backend.claim(owner)) instanceof ClaimResult.Granted);
        need("queue", ask(backend.claim(waiter)) instanceof ClaimResult.Queued);
        need("queue", ask(backend.claim(leaver)) instanceof ClaimResult.Queued);
        need("try", ask(backend.claim(claim(Claim.Mode.TRY))) instanceof ClaimResult.Busy);
        need("leave", !ask(backend.release(leaver)));
        need("renew", ask(backend.renew(List.of(owner))).renewed().contains(owner.id()));
        need("inspect", ask(backend.inspect("a")) instanceof LockInfo.Held held && held.waiters() == 1);
        need("list", ask(backend.list("", "")).locks().size() == 1);
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        Disposable watching = backend.events("a").subscribe(events::add, events::add);
        need("watch", next(events) instanceof LockEvent.Snapshot);
        need("release", ask(backend.release(owner)));
        Object pushed = next(signals);
        need("push", pushed instanceof Signal.Grant);
        need("event", next(events) instanceof LockEvent.Released);
        watching.dispose();
        need("no longer watch", quiet("reactivelock:0:events:*"));
        server.command("SCRIPT", "FLUSH");
        need("force", ask(backend.forceRelease("a", ((Signal.Grant) pushed).fencingToken())));
        share();
        server.command("RPUSH", "{reactivelock:b}", "x");
        String foreign = backend.inspect("b")
                .map(String::valueOf)
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())))
                .block(LIMIT);
        need("the type of a foreign key", String.valueOf(foreign).contains("(a list)"));
        listening.dispose();
    }

    private void share() {
        Claim first = permit();
        Claim last = permit();
        need("share", ask(backend.claim(first)) instanceof ClaimResult.Granted);
        need("share", ask(backend.claim(permit())) instanceof ClaimResult.Granted);
        need("queue for a share", ask(backend.claim(last)) instanceof ClaimResult.Queued);
        need("renew a share", ask(backend.renew(List.of(first))).renewed().contains(first.id()));
        LockInfo shared = ask(backend.inspect("shared"));
        need("inspect a shared lock", shared.isHeld());
        need("force a share", ask(backend.forceRelease("shared", ((LockInfo.Held) shared).fencingToken())));
        need("release a share", ask(backend.release(first)));
        need("release a share", ask(backend.release(last)));
    }

    private static Claim permit() {
        String id = UUID.randomUUID().toString().substring(0, 22);
        return new Claim(
                "shared",
                id,
                "a test",
                Duration.ofSeconds(30),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                Share.permits(1, 2));
    }

    private boolean quiet(String channels) throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            if (((List<?>) server.command("PUBSUB", "CHANNELS", channels)).isEmpty()) {
                return true;
            }
            Thread.sleep(20);
        }
        return false;
    }

    /** The next signal or event, or the error that ends them. */
    private static Object next(BlockingQueue<Object> queue) throws InterruptedException {
        return queue.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private static Claim claim(Claim.Mode mode) {
        return new Claim("a", UUID.randomUUID().toString().substring(0, 22), "a test", Duration.ofSeconds(30), mode);
    }

    private static <T> T ask(Mono<T> question) {
        return question.block(LIMIT);
    }

    private static void need(String what, boolean works) {
        if (!works) {
            throw new IllegalStateException("this user cannot " + what);
        }
    }
}
