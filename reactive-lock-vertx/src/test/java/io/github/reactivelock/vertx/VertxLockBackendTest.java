package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.ProtocolVersion;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

class VertxLockBackendTest {

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

    @Test
    void nothingIsOpenedBeforeItIsNeeded() {
        LockBackend backend = fixture.backend();
        Mono<ClaimResult> claim = backend.claim(claim("a"));
        assertThat(fixture.connections()).isEmpty();

        assertThat(get(claim)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(fixture.connections()).hasSize(1);

        assertThat(backend.signals().blockFirst(Duration.ofSeconds(60))).isInstanceOf(Signal.Reconnected.class);
        assertThat(fixture.connections()).hasSize(2);
    }

    @Test
    void aDeadProcessesWaiterIsPassedOverAndALiveOneIsServed() throws InterruptedException {
        LockBackend ending = fixture.backend();
        LockBackend backend = fixture.backend();
        Claim owner = claim("a");
        Claim alive = claim("a");
        BlockingQueue<Signal> theirs = new LinkedBlockingQueue<>();
        BlockingQueue<Signal> ours = new LinkedBlockingQueue<>();
        var listening = List.of(
                ending.signals().subscribe(theirs::add, error -> {}),
                backend.signals().subscribe(ours::add));
        assertThat(theirs.poll(60, TimeUnit.SECONDS)).isInstanceOf(Signal.Reconnected.class);
        assertThat(ours.poll(60, TimeUnit.SECONDS)).isInstanceOf(Signal.Reconnected.class);
        get(backend.claim(owner));
        get(ending.claim(claim("a")));
        get(backend.claim(alive));
        get(ending.close());
        eventually("its connection is gone", () -> listeners() == 1);

        assertThat(get(backend.release(owner))).isTrue();

        assertThat(ours.poll(60, TimeUnit.SECONDS))
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(alive.id()));
        listening.forEach(reactor.core.Disposable::dispose);
    }

    private static int listeners() {
        return ((List<?>) fixture.server.command("PUBSUB", "CHANNELS", "reactivelock:0:grants:*")).size();
    }

    @Test
    void eachClientAsksTheServerOnceAboutFullMemory() {
        fixture.server.command("CONFIG", "RESETSTAT");
        LockBackend backend = fixture.backend();

        get(backend.signals().next());
        get(backend.signals().next());

        eventually("it was asked", () -> commandStats().contains("cmdstat_evalsha:calls=1,"));
        get(backend.claim(claim("a")));
        assertThat(commandStats()).contains("cmdstat_evalsha:calls=2,");
    }

    private static String commandStats() {
        return String.valueOf(fixture.server.command("INFO", "commandstats"));
    }

    @Test
    void commandsGivenBeforeTheConnectionIsThereKeepTheirOrder() {
        LockBackend backend = fixture.backend();
        Claim claim = claim("a");
        List<Object> answers = Collections.synchronizedList(new ArrayList<>());

        var first = backend.claim(claim).subscribe(answers::add);
        var second = backend.release(claim).subscribe(answers::add);
        var third = backend.release(claim).subscribe(answers::add);

        eventually("three answers", () -> answers.size() == 3);
        assertThat(answers.get(0)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.subList(1, 3)).containsExactly(true, false);
        assertThat(List.of(first, second, third)).allMatch(reactor.core.Disposable::isDisposed);
    }

    @Test
    void aClaimCancelledInFlightIsUndoneByTheReleaseBehindIt() {
        LockBackend backend = fixture.backend();
        get(backend.claim(claim("warm up")));
        for (int i = 0; i < 200; i++) {
            Claim claim = claim("a");
            backend.claim(claim).subscribe().dispose();
            assertThat(get(backend.release(claim))).isTrue();
        }
    }

    @Test
    void tenThousandClaimsAtOnceAreAllAnswered() {
        LockBackend backend = fixture.backend();
        List<Mono<ClaimResult>> claims = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            claims.add(backend.claim(claim("k" + i)));
        }
        assertThat(Mono.zip(claims, results -> results.length).block(Duration.ofSeconds(60)))
                .isEqualTo(10_000);
    }

    @Test
    void aMissingServerIsAQuickErrorWithoutSecretsAndMayComeLater() {
        RedisServer gone = RedisServer.start("--requirepass", "secret");
        gone.kill();
        LockBackend backend = fixture.keep(
                VertxLockBackend.connect(fixture.vertx, "redis://default:secret@127.0.0.1:" + gone.port()));

        assertThatThrownBy(() -> get(backend.claim(claim("a"))))
                .hasMessageContaining("127.0.0.1:" + gone.port())
                .hasMessageContaining("cannot be reached")
                .hasStackTraceContaining("refused")
                .satisfies(error -> assertThat(Fixture.stackTrace(error)).doesNotContain("secret"));
        assertThatThrownBy(() -> backend.signals().blockFirst(Duration.ofSeconds(60)))
                .hasMessageContaining("cannot be reached");
        assertThat(backend).asString().doesNotContain("secret");

        gone.restartEmpty();
        assertThat(get(backend.claim(claim("a")))).isInstanceOf(ClaimResult.Granted.class);
        gone.close();
    }

    @Test
    void aServerThatAcceptsButNeverAnswersIsAnErrorThatSaysSo() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            LockBackend backend =
                    fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://127.0.0.1:" + mute.getLocalPort()));

            assertThatThrownBy(() -> get(backend.claim(claim("a"))))
                    .hasMessageContaining("127.0.0.1:" + mute.getLocalPort())
                    .hasMessageContaining("cannot be reached");
        }
    }

    @Test
    void aMissingOrWrongPasswordIsSaidWithItsRemedy() {
        RedisServer secured = RedisServer.start("--requirepass", "right");
        String at = "@127.0.0.1:" + secured.port();
        LockBackend none = fixture.keep(VertxLockBackend.connect(fixture.vertx, secured.uri()));
        LockBackend wrong = fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://default:wrong-secret" + at));
        LockBackend right = fixture.keep(VertxLockBackend.connect(fixture.vertx, "redis://default:right" + at));

        assertThatThrownBy(() -> get(none.claim(claim("a")))).hasMessageContaining("NOAUTH");
        assertThatThrownBy(() -> none.signals().blockFirst(Duration.ofSeconds(60)))
                .hasMessageContaining("NOAUTH");
        assertThatThrownBy(() -> get(wrong.claim(claim("a"))))
                .hasMessageContaining("WRONGPASS")
                .satisfies(error -> assertThat(Fixture.stackTrace(error)).doesNotContain("wrong-secret"));
        assertThatThrownBy(() -> wrong.signals().blockFirst(Duration.ofSeconds(60)))
                .hasMessageContaining("WRONGPASS");
        assertThat(get(right.claim(claim("a")))).isInstanceOf(ClaimResult.Granted.class);
        secured.close();
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void aClientOfTheApplicationIsUsedInEitherProtocolAndLeftOpen(ProtocolVersion version) throws Exception {
        RedisOptions options = new RedisOptions()
                .setConnectionString(fixture.server.uri() + "/3")
                .setPreferredProtocolVersion(version);
        Redis client = Redis.createClient(fixture.vertx, options);
        LockBackend backend = VertxLockBackend.using(fixture.vertx, client, options);
        BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        var listening = backend.signals().subscribe(signals::add, error -> {});
        assertThat(signals.poll(60, TimeUnit.SECONDS)).isInstanceOf(Signal.Reconnected.class);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        get(backend.claim(owner));
        assertThat(get(backend.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);

        assertThat(get(backend.release(owner))).isTrue();

        assertThat(signals.poll(60, TimeUnit.SECONDS)).isInstanceOf(Signal.Grant.class);
        assertThat((List<?>) fixture.server.command("PUBSUB", "CHANNELS", "reactivelock:3:*"))
                .hasSize(1);
        listening.dispose();
        get(backend.close());
        get(backend.close());
        assertThat(get(client.send(Request.cmd(Command.PING)))).hasToString("PONG");
        get(client.close());
    }

    @Test
    void afterCloseNothingIsLeftAndQuestionsAreErrors() {
        LockBackend backend = VertxLockBackend.connect(fixture.vertx, fixture.server.uri());
        List<String> ends = Collections.synchronizedList(new ArrayList<>());
        var listening = backend.signals().subscribe(signal -> {}, error -> {}, () -> ends.add("completed"));
        get(backend.claim(claim("a")));

        get(backend.close());
        get(backend.close());

        assertThat(ends).containsExactly("completed");
        assertThat(listening.isDisposed()).isTrue();
        assertThatThrownBy(() -> get(backend.claim(claim("a")))).hasMessageContaining("closed");
        eventually("our connections are closed", () -> fixture.connections().isEmpty());
    }

    @Test
    void closingWhatWasNeverOpenedCompletes() {
        LockBackend backend = VertxLockBackend.connect(fixture.vertx, fixture.server.uri());
        get(backend.close());
        assertThatThrownBy(() -> get(backend.claim(claim("a")))).hasMessageContaining("closed");
    }

    @Test
    void aVertxThatIsClosedIsAnErrorAndNotSilence() {
        Vertx vertx = Vertx.vertx();
        LockBackend backend = VertxLockBackend.connect(vertx, fixture.server.uri());
        get(backend.claim(claim("a")));
        get(vertx.close());

        assertThatThrownBy(() -> get(backend.claim(claim("a")))).hasMessageContaining("closed");
        get(backend.close());
        eventually("our connections are closed", () -> fixture.connections().isEmpty());
    }

    @Test
    void noThreadIsStarted() {
        var before = Thread.getAllStackTraces().keySet();
        LockBackend backend = fixture.backend();
        get(backend.claim(claim("a")));
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName))
                .allMatch(name -> name.startsWith("vert.x-eventloop") || name.startsWith("parallel"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://me:top secret@localhost",
                "redis://me:topsecret@localhost/database",
                "http://me:topsecret@localhost",
                "topsecret"
            })
    void aBrokenUriIsRefusedWithoutBeingRepeated(String uri) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> VertxLockBackend.connect(fixture.vertx, uri))
                .withMessageContaining("redis://[user:password@]host")
                .satisfies(error -> assertThat(Fixture.stackTrace(error)).doesNotContain("secret"));
    }

    /** One connection made a waiting claim wait for ever; with two the application's own commands did. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aPoolThatIsTooSmallIsRefused(int size) {
        RedisOptions options =
                new RedisOptions().setConnectionString(fixture.server.uri()).setMaxPoolSize(size);
        Redis client = Redis.createClient(fixture.vertx, options);

        assertThatThrownBy(() -> VertxLockBackend.using(fixture.vertx, client, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a pool of " + size)
                .hasMessageContaining("setMaxPoolSize of 3");
        get(client.close());
    }
}
