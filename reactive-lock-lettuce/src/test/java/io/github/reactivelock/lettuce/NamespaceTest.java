package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.redis.RedisFencingGuard;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.StaleTokenException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** A server that gives each application the keys and channels that begin with its name, and nothing else. */
class NamespaceTest {

    private static final RedisBackendOptions OPTIONS =
            RedisBackendOptions.defaults().withPrefix("orders:locks:");

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private String uri;
    private LettuceLockBackend backend;

    @BeforeEach
    void fresh() {
        fixture.server.command(
                "ACL",
                "SETUSER",
                "orders",
                "on",
                ">pw",
                "resetkeys",
                "~orders:*",
                "resetchannels",
                "&orders:*",
                "+@all");
        uri = fixture.server.uri().replace("redis://", "redis://orders:pw@");
        backend = LettuceLockBackend.connect(uri, OPTIONS);
    }

    @AfterEach
    void close() {
        backend.close().block(RedisFixture.PATIENCE);
    }

    @Test
    void itsUserTakesWaitsWatchesListsAndEnds() {
        BlockingQueue<Object> signals = new LinkedBlockingQueue<>();
        fixture.keep(backend.signals().subscribe(signals::add, signals::add));
        next(signals);
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        fixture.keep(backend.events("42").subscribe(events::add, events::add));
        assertThat(next(events)).isInstanceOf(LockEvent.Snapshot.class);
        Claim owner = claim("42");
        Claim waiter = claim("42");
        take(backend, owner);
        queue(backend, waiter);

        assertThat(backend.list("4", "").block(RedisFixture.PATIENCE).locks())
                .extracting(LockInfo.Held::key)
                .containsExactly("42");
        assertThat(backend.renew(List.of(owner)).block(RedisFixture.PATIENCE).renewed())
                .hasSize(1);
        assertThat(release(backend, owner)).isTrue();
        assertThat(next(signals).toString()).contains(waiter.id());
        assertThat(next(events)).isInstanceOf(LockEvent.Acquired.class);
        long token = ((LockInfo.Held) backend.inspect("42").block(RedisFixture.PATIENCE)).fencingToken();
        assertThat(backend.forceRelease("42", token).block(RedisFixture.PATIENCE))
                .isTrue();
        assertThat(fixture.redis.keys("*")).isNotEmpty().allMatch(name -> name.startsWith("orders:locks:{42}"));
    }

    @Test
    void itsUserGuardsItsOwnKeysAndNoOthers() {
        RedisFencingGuard guard = backend.fencingGuard();

        for (String key : List.of("orders:42", "orders:{42}:total", "orders:}", "orders:{}")) {
            assertThat(guard.write(key, 7, "SET", "new").block(RedisFixture.PATIENCE))
                    .isEqualTo("OK");
            assertThatThrownBy(() -> guard.write(key, 6, "SET", "old").block(RedisFixture.PATIENCE))
                    .isInstanceOf(StaleTokenException.class);
        }
        assertThatThrownBy(() -> guard.write("users:1", 7, "SET", "x").block(RedisFixture.PATIENCE))
                .hasMessageContaining("NOPERM");
        assertThatThrownBy(() -> guard.write("orders:locks:!fence:{orders:42}:fence", 7, "SET", "x"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void locksOfTwoPrefixesAreTwoLocks() {
        LockClient one = RedisFixture.client(LettuceLockBackend.connect(uri, OPTIONS));
        LockClient two = RedisFixture.client(
                LettuceLockBackend.connect(uri, RedisBackendOptions.defaults().withPrefix("orders:locks")));

        Mono<Long> found = Mono.zip(one.list("").count(), two.list("").count(), Long::sum);
        assertThat(one.withLock("42", two.withLock("42", found)).block(RedisFixture.PATIENCE))
                .isEqualTo(2L);
        Mono.when(one.close(), two.close()).block(RedisFixture.PATIENCE);
    }

    @Test
    void aNodeOfAQuorumVotesForItsUser() {
        Claim claim = claim("42");

        assertThat(backend.vote(claim, 1, 0, Duration.ZERO)
                        .block(RedisFixture.PATIENCE)
                        .result())
                .isInstanceOfSatisfying(
                        ClaimResult.Granted.class,
                        grant -> assertThat(
                                        backend.raise(claim, grant.fencingToken() + (1L << LockBackend.PASS_BITS), 0)
                                                .block(RedisFixture.PATIENCE))
                                .isTrue());
    }

    @Test
    void withoutAColonTheErrorSaysWhatItsUserNeeds() {
        LockBackend plain =
                LettuceLockBackend.connect(uri, RedisBackendOptions.defaults().withPrefix("orders"));

        assertThatThrownBy(() -> take(plain, claim("42")))
                .hasMessageContaining("~{orders:*")
                .hasMessageContaining("a prefix with a colon");
        plain.close().block(RedisFixture.PATIENCE);
    }
}
