package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.LEASE;
import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.RedisScript;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;

/** What becomes of a lock whose next in line cannot be told. */
class DeafWaiterTest {

    private static final String QUEUE = "{reactivelock:a}:queue";

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;
    private BlockingQueue<Signal> signals;
    private final Claim owner = claim("a");

    @BeforeEach
    void heldByAClientThatListens() {
        backend = fixture.backend();
        signals = fixture.signals(backend);
        take(backend, owner);
    }

    @Test
    void waitersWhoseProcessesEndedArePassedOverAndKeepTheirPlaces() {
        List<Claim> dead = Stream.generate(() -> claim("a")).limit(3).toList();
        dead.forEach(claim -> queueAndEnd(List.of(claim)));
        Claim alive = claim("a");
        queue(backend, alive);

        assertThat(release(backend, owner)).isTrue();

        assertThat(next(signals))
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(alive.id()));
        assertThat(fixture.redis.zrange(QUEUE, 0, -1))
                .containsExactlyElementsOf(dead.stream().map(Claim::id).toList());
    }

    @Test
    void whereNobodyCanBeToldTheLockIsFreeForWhoeverAsks() {
        Claim dead = claim("a");
        queueAndEnd(List.of(dead));

        assertThat(release(backend, owner)).isTrue();

        Claim attempt = claim("a", LEASE, Claim.Mode.TRY);
        take(backend, attempt);
        assertThat(release(backend, attempt)).isTrue();
        take(backend, dead); // it was only away for a while, and asks itself
        assertThat(fixture.redis.zcard(QUEUE)).isZero();
    }

    @Test
    void whoeverComesBackHasItsPlaceStill() {
        LockBackend other = fixture.backend();
        Disposable listening = listen(other);
        Claim away = claim("a");
        Claim second = claim("a");
        Claim third = claim("a");
        queue(other, away);
        listening.dispose();
        eventually("it listens no more", () -> listeners() == 1);
        queue(backend, second);
        queue(backend, third);

        release(backend, owner);
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(second.id());
        BlockingQueue<Signal> heard = fixture.signals(other);
        release(backend, second);

        assertThat(((Signal.Grant) next(heard)).claimId()).isEqualTo(away.id());
        release(other, away);
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(third.id());
    }

    @Test
    void anAbsentWaiterThatAsksGetsAFreeLockFirst() {
        LockBackend other = fixture.backend();
        Disposable listening = listen(other);
        Claim away = claim("a");
        queue(other, away);
        queue(backend, claim("a"));
        listening.dispose();
        eventually("it listens no more", () -> listeners() == 1);
        fixture.redis.del("{reactivelock:a}");

        take(other, away);
    }

    @Test
    void anAbsentWaiterIsNeverSentAGrantThatMightArrive() {
        BlockingQueue<String> published = new LinkedBlockingQueue<>();
        RedisClient eavesdropper = RedisClient.create(fixture.server.uri());
        try {
            StatefulRedisPubSubConnection<String, String> connection = eavesdropper.connectPubSub();
            connection.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String pattern, String channel, String message) {
                    if (!message.isEmpty()) { // else of an opening
                        published.add(message);
                    }
                }
            });
            connection.sync().psubscribe("*");
            queueAndEnd(List.of(claim("a")));

            release(backend, owner);

            assertThat(next(published)).isEqualTo("recheck {reactivelock:a}");
            assertThat(fixture.redis.exists("{reactivelock:a}")).isZero();
        } finally {
            eavesdropper.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    @Test
    void oneCallPassesOnlySoManyOverAndWhoeverLivesBehindThemIsServed() {
        queueAndEnd(Stream.generate(() -> claim("a")).limit(250).toList());
        Claim alive = claim("a");
        queue(backend, alive);
        fixture.redis.configResetstat();

        assertThat(release(backend, owner)).isTrue();

        assertThat(fixture.calls().get("hget")).isLessThan(110);
        assertThat(next(signals)).isEqualTo(new Signal.Recheck("a"));
        take(backend, alive);
        assertThat(fixture.redis.zcard(QUEUE)).isEqualTo(250);
    }

    @Test
    void whoNeverListenedIsServedAsIfItDid() {
        LockBackend polling = fixture.backend();
        Claim first = claim("a");
        queue(polling, first);
        queue(backend, claim("a"));

        release(backend, owner);

        assertThat(ask(backend, claim("a", LEASE, Claim.Mode.TRY))).isInstanceOf(ClaimResult.Busy.class);
        assertThat(release(polling, first)).isTrue();
    }

    @Test
    void aWaiterThatSaysThatItIsHeardAndIsNotIsToldSo() {
        String me = claim("a").id() + " reactivelock:0:grants:nobody me";

        assertThat(asked("await", me)).as("behind the owner").hasSize(5).endsWith(1L);
        assertThat(asked("await", me)).endsWith("", 1L);
        assertThat(asked("claim", me)).hasSize(3); // it does not say so
        assertThat(asked(
                        "await",
                        claim("a").id() + " " + fixture.redis.pubsubChannels().get(0) + " me"))
                .as("one that is heard, and stands behind the owner")
                .hasSizeLessThan(5);
    }

    private static List<Object> asked(String verb, String me) {
        String[] keys = {"{reactivelock:a}", "{reactivelock:a}:token", QUEUE, "{reactivelock:a}:waiters"};
        return fixture.redis.evalsha(
                RedisScript.lock().sha1(), ScriptOutputType.MULTI, keys, verb, me, Long.toString(LEASE.toMillis()));
    }

    /** As a process that is killed: its connections end, and nothing is given back. */
    private void queueAndEnd(List<Claim> claims) {
        LockBackend ending = fixture.backend();
        Disposable unused = listen(ending);
        claims.forEach(claim -> queue(ending, claim));
        long before = listeners();
        ending.close().block(Duration.ofSeconds(60));
        eventually("its connection is gone", () -> listeners() < before);
    }

    private Disposable listen(LockBackend listener) {
        BlockingQueue<Signal> heard = new LinkedBlockingQueue<>();
        Disposable listening = listener.signals().subscribe(heard::add, error -> {});
        assertThat(next(heard)).isInstanceOf(Signal.Reconnected.class);
        return listening;
    }

    private static long listeners() {
        return fixture.redis.pubsubChannels("reactivelock:0:grants:*").size();
    }
}
