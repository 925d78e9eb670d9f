package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.LEASE;
import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The script of a client from before there were shares beside the one of today, on one server. The old client meets shares
 * with an error and never enters; a share that is alone, and a lock that nobody shares, is a whole lock to it.
 */
class RollingUpgradeTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private static final String[] KEYS = {
        "{reactivelock:a}", "{reactivelock:a}:token", "{reactivelock:a}:queue", "{reactivelock:a}:waiters"
    };
    private static final String LEASE_MS = Long.toString(LEASE.toMillis());

    private final String script = script();
    private LockBackend backend;
    private BlockingQueue<Signal> signals;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
        signals = fixture.signals(backend);
    }

    private static String script() {
        try (InputStream in = RollingUpgradeTest.class.getResourceAsStream("lock-before-shares.lua")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object old(String... args) {
        return fixture.redis
                .<List<Object>>eval(script, ScriptOutputType.MULTI, KEYS, args)
                .get(0);
    }

    /** Granted if that is not zero. */
    private Object oldClaim(String verb, String id) {
        return old(verb, id + " reactivelock:0:grants:old an old client", LEASE_MS);
    }

    private static Claim share() {
        Claim whole = claim("a");
        return new Claim("a", whole.id(), "a reader", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.ONE);
    }

    @Test
    void anOldClientNeverEntersALockThatIsSharedAndSaysThatItIsForeign() {
        Claim reader = share();
        Claim other = share();
        long token = take(backend, reader);
        take(backend, other);

        for (String verb : List.of("claim", "await", "try")) {
            assertThatThrownBy(() -> oldClaim(verb, "old"))
                    .isInstanceOf(RedisCommandExecutionException.class)
                    .hasMessageContaining("FOREIGN {reactivelock:a}");
        }
        assertThatThrownBy(() -> old("release", "old")).hasMessageContaining("FOREIGN");
        assertThatThrownBy(() -> old("force", Long.toString(token >> LockBackend.PASS_BITS)))
                .hasMessageContaining("FOREIGN");

        assertThat(backend.renew(List.of(reader, other)).block().renewed()).hasSize(2);
        assertThat(release(backend, reader)).isTrue();
        assertThatThrownBy(() -> oldClaim("try", "old")).hasMessageContaining("FOREIGN");
        assertThat(release(backend, other)).isTrue();
        assertThat(oldClaim("try", "old")).isNotEqualTo(0L);
        assertThat(old("release", "old")).isEqualTo(1L);
    }

    @Test
    void aReaderThatAnOldClientsReleaseGrantsLetsTheNextOneInWhenThatAsks() {
        assertThat(oldClaim("claim", "old")).isNotEqualTo(0L);
        Claim reader = share();
        queue(backend, reader);
        Claim second = share();
        queue(backend, second);

        assertThat(old("release", "old")).isEqualTo(1L);

        assertThat(next(signals))
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(reader.id()));
        assertThat(backend.renew(List.of(reader)).block().renewed()).containsExactly(reader.id());
        assertThat(oldClaim("try", "other")).isEqualTo(0L);
        assertThat(ask(backend, second)).isInstanceOf(ClaimResult.Granted.class);
        assertThatThrownBy(() -> oldClaim("try", "other")).hasMessageContaining("FOREIGN");
        assertThat(backend.renew(List.of(reader, second)).block().renewed()).hasSize(2);
        assertThat(release(backend, reader)).isTrue();
        assertThat(release(backend, second)).isTrue();
        assertThat(fixture.keysOf("a")).containsExactly("{reactivelock:a}:token");
    }

    @Test
    void behindAReaderThatIsAloneAnOldClientWaitsAndIsServedBeforeThoseBehindIt() {
        Claim before = claim("a"); // a counter is there already
        take(backend, before);
        assertThat(release(backend, before)).isTrue();
        Claim reader = share();
        take(backend, reader);
        assertThat(oldClaim("claim", "old")).isEqualTo(0L);
        Claim second = share();
        queue(backend, second);

        assertThat(release(backend, reader)).isTrue();

        assertThat(ask(backend, second)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(oldClaim("claim", "old")).isNotEqualTo(0L);
        assertThat(old("release", "old")).isEqualTo(1L);
        assertThat(release(backend, second)).isTrue();
    }

    @Test
    void anOldClientThatWaitsIsServedBeforeTheReadersBehindIt() {
        Claim owner = claim("a");
        take(backend, owner);
        assertThat(oldClaim("claim", "old")).isEqualTo(0L);
        Claim reader = share();
        queue(backend, reader);

        assertThat(release(backend, owner)).isTrue();

        assertThat(oldClaim("claim", "old")).isNotEqualTo(0L);
        assertThat(ask(backend, reader)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(old("release", "old")).isEqualTo(1L);
        assertThat(release(backend, reader)).isTrue();
    }

    @Test
    void whatSharesLeaveBehindWhenTheirKeyIsLostHoldsNobodyUp() {
        take(backend, share());
        take(backend, share());
        fixture.redis.del(KEYS[0]);

        Claim writer = claim("a");
        take(backend, writer);
        assertThat(release(backend, writer)).isTrue();
        take(backend, share());
        fixture.redis.del(KEYS[0]);
        assertThat(oldClaim("claim", "old")).isNotEqualTo(0L);
        assertThat(old("release", "old")).isEqualTo(1L);
        Claim alone = share();
        take(backend, alone);
        assertThat(release(backend, alone)).isTrue();

        take(backend, claim("a"));
    }

    @Test
    void aReleaseThatLetsManyInServesAHundredACallAndTellsTheRestToAsk() {
        Claim owner = claim("a");
        take(backend, owner);
        for (int i = 0; i < 250; i++) {
            queue(backend, share());
        }
        Claim last = share();
        queue(backend, last);

        assertThat(release(backend, owner)).isTrue();

        for (int i = 0; i < 100; i++) {
            assertThat(next(signals)).isInstanceOf(Signal.Grant.class);
        }
        assertThat(next(signals)).isEqualTo(new Signal.Recheck("a"));
        assertThat(fixture.redis.get(KEYS[0])).startsWith("= 100 ");
        assertThat(ask(backend, last)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(ask(backend, last)).isInstanceOf(ClaimResult.Granted.class);
    }
}
