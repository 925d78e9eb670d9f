package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Three primaries, whose messages stay in the shard of their lock. */
class ShardedChannelsContractTest extends LockBackendContract {

    private static final RedisBackendOptions SHARDED =
            RedisBackendOptions.defaults().withShardedChannels();

    private static RedisCluster cluster;
    private static RedisClusterClient client;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(3, 0);
        client = RedisClusterClient.create(cluster.uris().get(0));
        assumeTrue(
                !String.valueOf(cluster.nodes().get(0).command("INFO", "server"))
                        .contains("redis_version:6."),
                "sharded channels came with Redis 7");
    }

    @AfterAll
    static void stop() {
        client.shutdown();
        cluster.close();
    }

    /** Connected to every primary, since some cases allow their questions little time. */
    @Override
    protected LockBackend newBackend() {
        LockBackend backend = LettuceLockBackend.using(client, SHARDED);
        assertThat(Flux.range(0, 12)
                        .flatMap(i -> backend.inspect("warm up " + i))
                        .blockLast(Duration.ofSeconds(60)))
                .isNotNull();
        assertThat(backend.signals().blockFirst(Duration.ofSeconds(60))).isNotNull();
        return backend;
    }

    /** A claim that waits asks once more when its channel is heard; a hold that never waited listens to nothing. */
    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_GRANTS, Feature.PUSHED_LOSS);
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(
                LettuceLockBackend.using(client, SHARDED),
                () -> client.connect().sync().ping().equals("PONG")));
    }

    @Test
    void aWaiterWhoseProcessEndedIsPassedOver() {
        LockBackend ending = LettuceLockBackend.using(client, SHARDED);
        LockBackend backend = LettuceLockBackend.using(client, SHARDED);
        BlockingQueue<Signal> theirs = new LinkedBlockingQueue<>();
        BlockingQueue<Signal> ours = new LinkedBlockingQueue<>();
        Disposable listening = Disposables.composite(
                ending.signals().subscribe(theirs::add, error -> {}),
                backend.signals().subscribe(ours::add));
        Claim owner = RedisFixture.claim("a");
        Claim dead = RedisFixture.claim("a");
        Claim alive = RedisFixture.claim("a");
        RedisFixture.take(backend, owner);
        queueAndBeHeard(ending, dead, theirs);
        queueAndBeHeard(backend, alive, ours);

        ending.close().block(Duration.ofSeconds(60));
        RedisFixture.eventually("its connections are gone", () -> shardChannels() == 1);
        RedisFixture.release(backend, owner);

        assertThat(RedisFixture.next(ours))
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(alive.id()));
        RedisFixture.release(backend, alive);
        RedisFixture.release(backend, dead); // its place would be there until its lease is over
        listening.dispose();
        backend.close().block(Duration.ofSeconds(60));
    }

    /** A client that keeps locks may share the prefix; it listens to a channel of its own. */
    @Test
    void theOwnerOfAnotherKindIsCalledBackAndATryRefused() {
        LockBackend keeping = LettuceLockBackend.using(client);
        LockBackend backend = LettuceLockBackend.using(client, SHARDED);
        BlockingQueue<Signal> theirs = new LinkedBlockingQueue<>();
        Disposable listening = keeping.signals().subscribe(theirs::add);
        assertThat(RedisFixture.next(theirs)).isInstanceOf(Signal.Reconnected.class);
        Claim plain = RedisFixture.claim("kept");
        Claim owner = new Claim(
                "kept", plain.id(), plain.owner(), plain.lease(), plain.mode(), plain.keeping(), plain.share(), true);
        Claim tries = RedisFixture.claim("kept", plain.lease(), Claim.Mode.TRY);
        Claim waits = RedisFixture.claim("kept");
        RedisFixture.take(keeping, owner);

        assertThat(RedisFixture.ask(backend, tries)).isInstanceOf(ClaimResult.Busy.class);
        assertThat(RedisFixture.next(theirs)).isEqualTo(new Signal.Recall(owner.id()));
        RedisFixture.queue(backend, waits);
        assertThat(RedisFixture.next(theirs)).isEqualTo(new Signal.Recall(owner.id()));

        RedisFixture.release(keeping, owner);
        RedisFixture.take(backend, waits);
        RedisFixture.release(backend, waits);
        listening.dispose();
        keeping.close().block(Duration.ofSeconds(60));
        backend.close().block(Duration.ofSeconds(60));
    }

    /** Else locks would be granted, and the first hand-over would fail. PUBLISH is not needed. */
    @Test
    void aUserWhoMayNotPublishIsRefusedAtTheFirstCall() {
        LockClient client = userWith("-publish");
        assertThat(client.withLock("b", Mono.just("had it")).block(Duration.ofSeconds(60)))
                .isEqualTo("had it");
        client.close().block(Duration.ofSeconds(60));

        LockClient refused = userWith("-spublish");
        assertThatThrownBy(() -> refused.withLock("b", Mono.just("had it")).block(Duration.ofSeconds(60)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContainingAll("scripts cannot run SPUBLISH", "+spublish");
        refused.close().block(Duration.ofSeconds(60));
    }

    private static LockClient userWith(String permission) {
        String user = "ACL SETUSER locks reset on >secret ~* &* +@all " + permission;
        cluster.nodes().forEach(node -> node.command(user.split(" ")));
        return LockClient.builder(LettuceLockBackend.connectCluster(
                        List.of(cluster.uris().get(0).replace("redis://", "redis://locks:secret@")), SHARDED))
                .commandTimeout(Duration.ofSeconds(40))
                .build();
    }

    /** Asks again when the lock's channel begins to be heard, as a client does. */
    private static void queueAndBeHeard(LockBackend backend, Claim claim, BlockingQueue<Signal> signals) {
        RedisFixture.queue(backend, claim);
        while (!(RedisFixture.next(signals) instanceof Signal.Recheck)) {
            // that is the client's own channel
        }
        RedisFixture.queue(backend, claim);
    }

    private static int shardChannels() {
        return cluster.nodes().stream()
                .mapToInt(node -> ((List<?>) node.command("PUBSUB", "SHARDCHANNELS", "*}")).size())
                .sum();
    }

    @Override
    protected void assertStoreIsClean() {
        for (RedisServer primary : cluster.nodes().subList(0, 3)) {
            List<?> left = (List<?>) primary.command("KEYS", "*");
            assertThat(left.stream().map(String::valueOf))
                    .filteredOn(name -> !name.endsWith("}:token"))
                    .isEmpty();
        }
    }
}
