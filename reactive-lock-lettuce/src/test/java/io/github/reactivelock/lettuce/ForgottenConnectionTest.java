package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.PATIENCE;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Connections that nothing closes and on which nothing arrives, as a NAT or a balancer leaves them behind. The rows of
 * the fault matrix about them ask for what becomes of locks; here it is what becomes of each kind of connection.
 */
class ForgottenConnectionTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private final TcpProxy proxy = TcpProxy.to(fixture.server.port());
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        proxy.close();
    }

    /** Our own clients, and clients of the application with and without what stands before a connection's end. */
    static Stream<Named<Function<ForgottenConnectionTest, LockBackend>>> clients() {
        return Stream.of(
                Named.of("our own", test -> test.kept(LettuceLockBackend.connect(test.uri()))),
                Named.of(
                        "the primary of several",
                        test -> test.kept(LettuceLockBackend.connectPrimary(List.of(test.uri())))),
                Named.of("the application's", test -> test.using(ClientOptions.create())),
                Named.of(
                        "the application's, with timeouts",
                        test -> test.using(ClientOptions.builder()
                                .timeoutOptions(TimeoutOptions.enabled(PATIENCE))
                                .build())),
                Named.of(
                        "the application's, with a limit for pings that is shorter than silence",
                        test -> test.using(ClientOptions.builder()
                                .timeoutOptions(TimeoutOptions.builder()
                                        .timeoutSource(new LimitOfPings())
                                        .build())
                                .build())),
                Named.of(
                        "the application's, of the old protocol",
                        test -> test.using(ClientOptions.builder()
                                .protocolVersion(ProtocolVersion.RESP2)
                                .build())),
                Named.of("the application's, listened to", ForgottenConnectionTest::listenedTo));
    }

    /** All else may take its time, on a busy machine too. */
    private static final class LimitOfPings extends TimeoutOptions.TimeoutSource {
        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            return command.getType() == CommandType.PING ? 500 : PATIENCE.toMillis();
        }
    }

    private String uri() {
        return "redis://127.0.0.1:" + proxy.port();
    }

    private LockBackend kept(LockBackend backend) {
        opened.add(() -> backend.close().block(PATIENCE));
        return backend;
    }

    private LockBackend using(ClientOptions options) {
        RedisClient client = RedisClient.create();
        client.setOptions(options);
        return using(client);
    }

    private LockBackend listenedTo() {
        RedisClient client = RedisClient.create();
        client.addListener(new CommandListener() {});
        return using(client);
    }

    private LockBackend using(RedisClient client) {
        LockBackend backend = kept(LettuceLockBackend.using(client, RedisURI.create(uri())));
        opened.add(client::shutdown);
        return backend;
    }

    @ParameterizedTest
    @MethodSource("clients")
    void aQuestionIsAnsweredOverAnotherConnection(Function<ForgottenConnectionTest, LockBackend> client) {
        LockBackend backend = client.apply(this);
        take(backend, claim("a"));

        assertThat(proxy.forget()).isPositive();

        Claim next = claim("b");
        take(backend, next);
        assertThat(release(backend, next)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("clients")
    void anIdleConnectionForChannelsIsOpenedAnew(Function<ForgottenConnectionTest, LockBackend> client) {
        LockBackend backend = client.apply(this);
        BlockingQueue<Signal> signals = fixture.signals(backend);

        assertThat(proxy.forget("SUBSCRIBE")).isEqualTo(1);

        assertThat(next(signals)).isInstanceOf(Signal.Reconnected.class);
    }

    /** Recalls come on it, so what a client keeps is given to no flow from then on. */
    @ParameterizedTest
    @MethodSource("clients")
    void noRecallIsHeardWhileTheConnectionForChannelsIsGone(Function<ForgottenConnectionTest, LockBackend> client) {
        LockBackend backend = client.apply(this);
        BlockingQueue<Signal> signals = fixture.signals(backend);
        take(backend, claim("a"));
        eventually("it hears", backend::hearsRecalls);

        assertThat(proxy.cut("SUBSCRIBE")).isEqualTo(1);

        eventually("it knows", () -> !backend.hearsRecalls());
        assertThat(backend.isReady()).isTrue();
        take(backend, claim("b"));
        proxy.mend();
        assertThat(next(signals)).isInstanceOf(Signal.Reconnected.class);
        eventually("it hears again", backend::hearsRecalls);
    }

    /** It ends, and no other can be opened. One whose end is hidden stays: {@link ReopenedChannelTest}. */
    @ParameterizedTest
    @MethodSource("clients")
    void noRecallIsHeardWhileASilentConnectionForChannelsCannotBeReplaced(
            Function<ForgottenConnectionTest, LockBackend> client) {
        LockBackend backend = client.apply(this);
        BlockingQueue<Signal> signals = fixture.signals(backend);
        take(backend, claim("a"));
        eventually("it hears", backend::hearsRecalls);

        proxy.cut("what is said on none");
        assertThat(proxy.forget("SUBSCRIBE")).isEqualTo(1);

        eventually("it knows", () -> !backend.hearsRecalls());
        take(backend, claim("b"));
        assertThat(backend.hearsRecalls()).isFalse();
        proxy.mend();
        assertThat(next(signals)).isInstanceOf(Signal.Reconnected.class);
        eventually("it hears again", backend::hearsRecalls);
    }

    /** An error is an answer. Such a user had its connections dropped every second. */
    @Test
    void aUserWhoMayNotPingKeepsItsConnections() {
        fixture.redis.aclSetuser(
                "mute",
                io.lettuce.core.AclSetuserArgs.Builder.on()
                        .nopass()
                        .allKeys()
                        .allChannels()
                        .allCommands()
                        .removeCommand(CommandType.PING));
        LockBackend backend =
                kept(LettuceLockBackend.connectPrimary(List.of("redis://mute:x@127.0.0.1:" + proxy.port())));
        BlockingQueue<Signal> signals = fixture.signals(backend);
        take(backend, claim("a"));

        // A server that a busy machine keeps from answering is left, and then it is asked six times more.
        eventually("it keeps its connection though it is asked six times", Duration.ofMinutes(3), () -> {
            int before = signals.size();
            long refused = refusedPings();
            eventually("it was asked six times", () -> refusedPings() - refused >= 6);
            return signals.size() == before;
        });
        take(backend, claim("b"));
    }

    private static long refusedPings() {
        return fixture.redis
                .info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_ping:"))
                .map(line -> line.replaceFirst(".*rejected_calls=(\\d+).*", "$1"))
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }

    @Test
    void aServerThatWaitsForReplicasIsNotSilent() {
        LockBackend backend = kept(LettuceLockBackend.connect(
                uri(), RedisBackendOptions.defaults().withReplicas(1, Duration.ofSeconds(6))));

        assertThatThrownBy(() -> backend.claim(claim("a")).block(PATIENCE))
                .hasMessageContaining("0 of the 1 replicas asked for acknowledged within 6000 ms");
    }
}
