package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.SignalsRefusedException;
import io.github.reactivelock.testservers.TcpProxy;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class VertxFaultTest {

    private static Fixture fixture;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @AfterEach
    void reset() {
        fixture.reset();
    }

    @RepeatedTest(5)
    void aWaiterWhosePushConnectionIsKilledIsServedOnReconnect() throws Exception {
        // So long that nobody is served by looking again.
        LockOptions hours = LockOptions.defaults().withLease(Duration.ofHours(10));
        LockClient holder = Fixture.client(fixture.backend()).with(hours);
        LockClient waiting = Fixture.client(fixture.backend()).with(hours);
        LockHandle held = get(holder.acquire("a"));
        CompletableFuture<LockHandle> next = waiting.acquire("a").toFuture();
        eventually(
                "the waiter is queued",
                () -> fixture.server.command("ZCARD", "{reactivelock:a}:queue").equals(1L));

        fixture.server.command("CLIENT", "KILL", "TYPE", "pubsub");
        CompletableFuture<Void> released = held.release().toFuture();

        LockHandle served = next.get(60, TimeUnit.SECONDS);
        assertThat(served.fencingToken()).isGreaterThan(held.fencingToken());
        released.get(60, TimeUnit.SECONDS);
        get(served.release());
        get(holder.close());
        get(waiting.close());
    }

    @Test
    void aHolderWhoseConnectionIsKilledKeepsTheLockAndGoesOnRenewingIt() throws Exception {
        Duration lease = Duration.ofSeconds(15);
        LockClient client =
                Fixture.client(fixture.backend()).with(LockOptions.defaults().withLease(lease));
        LockHandle held = get(client.acquire("a"));
        for (int i = 0; i < 3; i++) {
            fixture.server.command("CLIENT", "KILL", "TYPE", "normal");
            untilRenewed(); // by who connects again
        }
        untilRenewed(); // because it is time

        assertThat(held.isHeld()).isTrue();
        get(held.release());
        get(client.close());
    }

    private static void untilRenewed() {
        AtomicLong left = new AtomicLong(millisecondsLeft());
        eventually("the lease begins anew", () -> {
            long now = millisecondsLeft();
            return now > left.getAndSet(now);
        });
    }

    private static long millisecondsLeft() {
        return (Long) fixture.server.command("PTTL", "{reactivelock:a}");
    }

    @Test
    void commandsOfAnInterruptionAreSentInTheirOrderWhenItIsOver() {
        try (TcpProxy proxy = TcpProxy.to(fixture.server.port())) {
            LockBackend backend =
                    fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://127.0.0.1:" + proxy.port()));
            get(backend.claim(claim("warm up")));
            proxy.cut();
            BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
            for (int i = 0; i < 100; i++) {
                var claim = claim("a");
                var first = backend.claim(claim).subscribe(answers::add, answers::add);
                var second = backend.release(claim).subscribe(answers::add, answers::add);
                assertThat(List.of(first, second)).isNotEmpty();
            }
            proxy.mend();

            eventually("two hundred answers", () -> answers.size() == 200);
            List<Object> all = List.copyOf(answers);
            for (int i = 0; i < 200; i += 2) {
                assertThat(all.get(i)).isInstanceOf(ClaimResult.Granted.class);
                assertThat(all.get(i + 1)).isEqualTo(true);
            }
        }
    }

    @Test
    void anAnswerThatIsLostIsAskedForAgain() {
        try (TcpProxy proxy = TcpProxy.to(fixture.server.port())) {
            LockBackend backend =
                    fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://127.0.0.1:" + proxy.port()));
            get(backend.claim(claim("warm up")));
            var claim = claim("a");
            proxy.dropReplies();
            var answer = backend.claim(claim).toFuture();
            eventually(
                    "the store has acted",
                    () -> fixture.server.command("EXISTS", "{reactivelock:a}").equals(1L));
            proxy.cut();
            proxy.mend();

            assertThat(answer.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(backend.release(claim))).isTrue();
            assertThat(get(backend.release(claim))).isFalse();
        }
    }

    @Test
    void anAnswerThatIsLostOverAClientHandedInIsAskedForAgain() {
        try (TcpProxy proxy = TcpProxy.to(fixture.server.port())) {
            RedisOptions options = new RedisOptions().setConnectionString("redis://127.0.0.1:" + proxy.port());
            Redis application = Redis.createClient(fixture.vertx, options);
            LockBackend backend = fixture.keep(VertxLockBackend.using(fixture.vertx, application, options));
            get(backend.claim(claim("warm up")));
            var claim = claim("a");
            proxy.dropReplies();
            var answer = backend.claim(claim).toFuture();
            eventually(
                    "the store has acted",
                    () -> fixture.server.command("EXISTS", "{reactivelock:a}").equals(1L));
            proxy.mend(); // the connection is reset

            assertThat(answer.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(backend.release(claim))).isTrue();
            get(application.close());
        }
    }

    /** The second release finds nothing, because the first one was carried out: that is no loss. */
    @RepeatedTest(5)
    void aReleaseWithALostAnswerIsNoLossAForcedOneIsReported() {
        try (TcpProxy proxy = TcpProxy.to(fixture.server.port())) {
            LockBackend backend =
                    fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://127.0.0.1:" + proxy.port()));
            var released = claim("a");
            get(backend.claim(released));
            var forced = claim("b");
            long token = ((ClaimResult.Granted) get(backend.claim(forced))).fencingToken();
            proxy.dropReplies();
            var release = backend.release(released).toFuture();
            var force = backend.forceRelease("b", token).toFuture();
            eventually(
                    "the store has acted",
                    () -> fixture.server
                            .command("EXISTS", "{reactivelock:a}", "{reactivelock:b}")
                            .equals(0L));
            proxy.mend(); // the connection is reset

            for (CompletableFuture<Boolean> answer : List.of(release, force)) {
                assertThatThrownBy(() -> answer.orTimeout(60, TimeUnit.SECONDS).join())
                        .hasMessageContaining("it is not known");
            }
            assertThat(get(backend.release(released))).as("asked by itself").isFalse();
        }
    }

    @Test
    void aServerThatStaysAwayIsAnErrorAndItsReturnIsNoticed() {
        try (Fixture own = new Fixture()) {
            LockBackend backend = own.backend();
            BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
            var listening = backend.signals().subscribe(signals::add, error -> {});
            eventually("the first push connection", () -> signals.size() == 1);
            get(backend.claim(claim("a")));
            own.server.kill();

            assertThatThrownBy(() -> get(backend.claim(claim("a")))).hasMessageContaining("cannot be reached");
            assertThatThrownBy(() -> get(backend.claim(claim("a")))).hasMessageContaining("cannot be reached");

            own.server.restartEmpty();
            assertThat(get(backend.claim(claim("a")))).isInstanceOf(ClaimResult.Granted.class);
            // One more signal where commands are back before the push connection is.
            eventually("the push connection is back", () -> signals.size() >= 2 && pushes(own) == 1);
            assertThat(signals).allMatch(Signal.Reconnected.class::isInstance);
            listening.dispose();
        }
    }

    private static long pushes(Fixture fixture) {
        return fixture.connections().stream()
                .filter(line -> line.contains(" sub=1 "))
                .count();
    }

    @Test
    void aServerThatForgotTheScriptGetsItAgain() {
        LockBackend backend = fixture.backend();
        get(backend.claim(claim("warm up")));
        fixture.server.command("SCRIPT", "FLUSH");

        var claim = claim("a");
        assertThat(get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(backend.release(claim))).isTrue();
    }

    @Test
    void aUserWithoutTheChannelIsToldWhichChannel() {
        fixture.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all");
        LockBackend backend = fixture.keep(
                VertxLockBackend.connect(fixture.vertx, "redis://deaf:pw@127.0.0.1:" + fixture.server.port()));

        assertThat(get(backend.claim(claim("a")))).isInstanceOf(ClaimResult.Granted.class);
        assertThatThrownBy(() -> backend.signals().blockFirst(Duration.ofSeconds(60)))
                .isInstanceOf(SignalsRefusedException.class)
                .hasMessageContaining("'reactivelock:0:grants:")
                .hasMessageContaining("&reactivelock:*");
        LockClient deaf = Fixture.client(backend);
        assertThatThrownBy(() -> get(deaf.acquire("a")))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("&reactivelock:*");
    }
}
