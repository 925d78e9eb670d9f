package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class ConnectionTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    @BeforeEach
    void fresh() {
        fixture.redis.configSet("requirepass", "");
    }

    @Test
    void aReadOnlyReplicaIsNotConnectedToOverAndOver() {
        try (RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", "" + fixture.server.port())) {
            RedisClient outside = RedisClient.create(replica.uri());
            LockClient client = RedisFixture.client(LettuceLockBackend.connect(replica.uri()));

            assertThatThrownBy(() -> client.acquire("a").block(Duration.ofSeconds(60)))
                    .hasMessageContaining("connect to the primary");

            assertThat(outside.connect().sync().info("stats"))
                    .containsPattern("total_connections_received:([0-9]|1[0-9])\\s");
            client.close().block(Duration.ofSeconds(60));
            outside.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    @Test
    void nothingIsOpenedBeforeItIsNeeded() {
        LockBackend backend = fixture.backend();
        Mono<ClaimResult> claim = backend.claim(claim("a"));
        assertThat(connections()).isEmpty();

        assertThat(claim.block()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(connections()).hasSize(1);

        fixture.signals(backend);
        Disposable watch = backend.events("a").subscribe();
        eventually(
                "two channels on one connection",
                () -> fixture.redis.pubsubChannels().size() == 2);
        assertThat(connections()).hasSize(2);
        watch.dispose();
    }

    @Test
    void commandsGivenBeforeTheConnectionIsThereKeepTheirOrder() {
        LockBackend backend = fixture.backend();
        Claim claim = claim("a");
        List<Object> answers = Collections.synchronizedList(new ArrayList<>());

        fixture.keep(backend.claim(claim).subscribe(answers::add));
        fixture.keep(backend.release(claim).subscribe(answers::add));
        fixture.keep(backend.release(claim).subscribe(answers::add));

        eventually("three answers", () -> answers.size() == 3);
        assertThat(answers.get(0)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.subList(1, 3)).containsExactly(true, false);
        assertThat(fixture.calls()).containsEntry("eval", 1L); // the opening's own, and no call by its body
    }

    @Test
    void aClaimCancelledInFlightIsUndoneByTheReleaseBehindIt() {
        LockBackend backend = fixture.backend();
        take(backend, claim("warm up"));
        for (int i = 0; i < 200; i++) {
            Claim claim = claim("a");
            backend.claim(claim).subscribe().dispose();
            assertThat(release(backend, claim)).isTrue();
        }
    }

    @Test
    void aMissingServerIsAQuickErrorWithoutSecretsAndMayComeLater() {
        RedisServer gone = RedisServer.start();
        gone.close();
        LockBackend backend = fixture.backend("redis://me:secret@127.0.0.1:" + gone.port());

        assertThatThrownBy(() -> ask(backend, claim("a")))
                .hasMessageContaining("127.0.0.1:" + gone.port())
                .hasMessageContaining("cannot be reached")
                .hasMessageNotContaining("secret")
                .hasStackTraceContaining("refused")
                .satisfies(error -> assertThat(stackTrace(error)).doesNotContain("secret"));
        assertThatThrownBy(() -> backend.signals().blockFirst(Duration.ofSeconds(60)))
                .hasMessageContaining("cannot be reached");
        assertThat(backend).asString().doesNotContain("secret");
    }

    @Test
    void aServerThatAcceptsButNeverAnswersIsAnErrorWithinTheTimeout() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            LockBackend backend = fixture.backend("redis://127.0.0.1:" + mute.getLocalPort() + "?timeout=300ms");

            assertThatThrownBy(() -> ask(backend, claim("a"))).hasMessageContaining("127.0.0.1:" + mute.getLocalPort());
        }
    }

    @Test
    void aMissingOrWrongPasswordIsSaidWithItsRemedy() {
        fixture.redis.configSet("requirepass", "secret");

        assertThatThrownBy(() -> ask(fixture.backend(), claim("a"))).hasMessageContaining("NOAUTH");
        assertThatThrownBy(() -> ask(fixture.backend(uri("default", "wrong-secret")), claim("a")))
                .hasMessageContaining("WRONGPASS")
                .satisfies(error -> assertThat(stackTrace(error)).doesNotContain("wrong-secret"));
        take(fixture.backend(uri("default", "secret")), claim("a"));
    }

    @Test
    void aUserWithoutTheChannelIsToldWhichChannel() {
        acl("SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all");
        LockBackend backend = fixture.backend(uri("deaf", "pw"));

        take(backend, claim("a"));
        assertThatThrownBy(() -> backend.signals().blockFirst(Duration.ofSeconds(60)))
                .hasMessageContaining("'reactivelock:0:grants:")
                .hasMessageContaining("&reactivelock:*");
    }

    @Test
    void aUserWithWhatTheErrorAsksForCanDoEverything() {
        acl("SETUSER", "narrow", "on", ">pw", "resetkeys", "resetchannels", "-@all", "+evalsha");
        LockBackend narrow = fixture.backend(uri("narrow", "pw"));
        String error = catchThrowable(() -> ask(narrow, claim("a"))).getMessage();
        String asked = error.substring(error.indexOf("~{reactivelock:*"), error.indexOf("; besides"));

        acl(("SETUSER enough on >pw resetkeys resetchannels -@all " + asked).split(" "));
        LockBackend enough = fixture.backend(uri("enough", "pw"));
        fixture.signals(enough);
        Claim owner = claim("a");
        take(enough, owner);
        RedisFixture.queue(enough, claim("a"));
        assertThat(enough.events("a").blockFirst()).isNotNull();
        assertThat(release(enough, owner)).isTrue();
        long token = ((LockInfo.Held) enough.inspect("a").block()).fencingToken();
        assertThat(enough.forceRelease("a", token).block()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void aClientOfTheApplicationIsUsedInEitherProtocolAndLeftOpen(ProtocolVersion version) {
        RedisClient client = RedisClient.create(fixture.server.uri());
        try {
            client.setOptions(ClientOptions.builder().protocolVersion(version).build());
            LockBackend backend = LettuceLockBackend.using(client, RedisURI.create(fixture.server.uri() + "/3"));
            var signals = fixture.signals(backend);
            Claim owner = claim("a");
            Claim waiter = claim("a");
            take(backend, owner);
            RedisFixture.queue(backend, waiter);
            release(backend, owner);
            next(signals);
            assertThat(fixture.redis.pubsubChannels("reactivelock:3:*")).hasSize(1);

            backend.close().block();
            backend.close().block();

            eventually("our connections are closed", () -> connections().isEmpty());
            assertThat(client.connect().sync().ping()).isEqualTo("PONG");
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    @Test
    void afterCloseNothingIsLeftAndQuestionsAreErrors() {
        LockBackend backend = LettuceLockBackend.connect(fixture.server.uri());
        List<String> signals = Collections.synchronizedList(new ArrayList<>());
        fixture.keep(backend.signals().subscribe(signal -> {}, error -> {}, () -> signals.add("completed")));
        take(backend, claim("a"));

        backend.close().block(Duration.ofSeconds(60));
        backend.close().block(Duration.ofSeconds(60));

        assertThat(signals).containsExactly("completed");
        assertThatThrownBy(() -> ask(backend, claim("a"))).hasMessageContaining("closed");
        eventually("our connections are closed", () -> connections().isEmpty());
    }

    @Test
    void closingWhatWasNeverOpenedCompletes() {
        LockBackend backend = LettuceLockBackend.connect(fixture.server.uri());
        backend.close().block(Duration.ofSeconds(60));
        assertThatThrownBy(() -> ask(backend, claim("a"))).hasMessageContaining("closed");
    }

    @Test
    void aThreadOfOursDoesNotOutliveUs() {
        var before = Thread.getAllStackTraces().keySet();
        LockBackend backend = LettuceLockBackend.connect(fixture.server.uri());
        assertThat(backend.signals().blockFirst()).isInstanceOf(Signal.Reconnected.class);
        take(backend, claim("a"));
        backend.close().block(Duration.ofSeconds(60));

        eventually(
                "no new Lettuce thread is left",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .noneMatch(thread -> thread.getName().contains("lettuce")));
    }

    @Test
    void twoPrefixesAreTwoLocks() {
        LockBackend backend = fixture.backend();
        LockBackend other = LettuceLockBackend.connect(
                fixture.server.uri(), RedisBackendOptions.defaults().withPrefix("other"));
        take(backend, claim("a"));
        take(other, claim("a"));
        other.close().block();
    }

    @Test
    void aBrokenUriIsRefusedWithoutBeingRepeated() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LettuceLockBackend.connect("redis://me:top secret@localhost"))
                .withMessageContaining("redis://[user:password@]host")
                .satisfies(error -> assertThat(stackTrace(error)).doesNotContain("top secret"));
    }

    private static String uri(String user, String password) {
        return "redis://" + user + ":" + password + "@127.0.0.1:" + fixture.server.port();
    }

    private static void acl(String... words) {
        CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).addValues(words);
        assertThat(fixture.redis.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args))
                .isEqualTo("OK");
    }

    /** All connections but the fixture's own. */
    private static List<String> connections() {
        return fixture.redis
                .clientList()
                .lines()
                .filter(line -> !line.contains("cmd=client"))
                .toList();
    }

    private static String stackTrace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
