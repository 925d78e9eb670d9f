package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A connection that is reset, as a firewall does it, while a question is under way. */
class LostAnswerTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private TcpProxy proxy;
    private String uri;

    @BeforeEach
    void putAProxyBetween() {
        proxy = TcpProxy.to(fixture.server.port());
        uri = "redis://127.0.0.1:" + proxy.port();
    }

    @AfterEach
    void removeTheProxy() {
        fixture.reset();
        proxy.close();
    }

    @RepeatedTest(5)
    void aClaimWhoseAnswerWasLostIsOneHold() {
        LockBackend backend = fixture.backend(uri);
        take(backend, claim("warm up"));
        Claim claim = claim("a");
        proxy.dropReplies();
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
        eventually("it is granted", () -> fixture.redis.exists("{reactivelock:a}") == 1);

        proxy.mend();

        long token = ((ClaimResult.Granted) within(answer)).fencingToken();
        assertThat(take(backend, claim)).isEqualTo(token);
        assertThat(release(backend, claim)).isTrue();
        assertThat(release(backend, claim)).isFalse();
    }

    @RepeatedTest(5)
    void aClaimThatWasLostOnItsWayIsRepeated() {
        LockBackend backend = fixture.backend(uri);
        take(backend, claim("warm up"));
        Claim claim = claim("a");
        proxy.freeze();
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();

        proxy.reset();
        proxy.mend();

        assertThat(within(answer)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(release(backend, claim)).isTrue();
    }

    @RepeatedTest(5)
    void aForcedReleaseWhoseAnswerWasLostLeavesTheSuccessorAlone() {
        LockBackend backend = fixture.backend(uri);
        take(backend, claim("warm up"));
        LockBackend direct = fixture.backend();
        Claim owner = claim("a");
        Claim next = claim("a");
        long token = take(direct, owner);
        queue(direct, next);
        proxy.dropReplies();
        CompletableFuture<Boolean> forced = backend.forceRelease("a", token).toFuture();
        eventually("it is carried out", () -> isOwner(direct, next));

        proxy.mend(); // the connection is reset, and on the next one the command is sent again

        assertThatThrownBy(() -> within(forced)).hasMessageContaining("it is not known");
        assertThat(isOwner(direct, next)).isTrue();
        assertThat(release(direct, next)).isTrue();
    }

    /** The second release finds nothing, because the first one was carried out: that is no loss. */
    @RepeatedTest(5)
    void aReleaseWhoseAnswerWasLostIsNoLoss() {
        AtomicInteger losses = new AtomicInteger();
        LockClient client = LockClient.builder(fixture.backend(uri))
                .commandTimeout(Duration.ofSeconds(20))
                .listener(new LockListener() {
                    @Override
                    public void lost(LockRequest request, LockLostException loss) {
                        losses.incrementAndGet();
                    }
                })
                .build();
        LockHandle held = client.acquire("a").block(LIMIT);
        proxy.dropReplies();
        CompletableFuture<Void> released = held.release().toFuture();
        eventually("it is carried out", () -> fixture.redis.exists("{reactivelock:a}") == 0);

        proxy.mend();

        assertThatThrownBy(() -> within(released))
                .hasCauseInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("it is not known");
        client.close().block(LIMIT);
        assertThat(losses).hasValue(0);
    }

    @RepeatedTest(5)
    void everyOtherVerbWhoseAnswerWasLostSaysTheSameAgain() {
        LockBackend backend = fixture.backend(uri);
        Claim owner = claim("a");
        Claim share = share(claim("b"));
        take(backend, owner);
        take(backend, share);
        take(backend, share(claim("b")));
        Claim kept = claim("a");
        Claim keptShare = share(claim("b"));
        proxy.dropReplies();
        CompletableFuture<RenewalResult> renewed =
                backend.renew(List.of(owner, share)).toFuture();
        CompletableFuture<Boolean> keeps = backend.keep(owner, kept).toFuture();
        CompletableFuture<Boolean> keepsShare = backend.keep(share, keptShare).toFuture();
        LockBackend direct = fixture.backend();
        eventually("they are carried out", () -> isOwner(direct, kept) && isOwner(direct, keptShare));

        proxy.mend();

        assertThat(within(keeps)).isTrue();
        assertThat(within(keepsShare)).isTrue();
        // It is sent again behind what was asked after it, so it may be answered that another claim has the lock now.
        assertThat(within(renewed).refused()).isEmpty();
        assertThat(release(direct, kept)).isTrue();
        assertThat(release(direct, keptShare)).isTrue();
    }

    /** What it finds nothing of may have been its own doing, but a lock that was never held was not. */
    @Test
    void aReleaseThatWasSentOnceSaysThatItFoundNothing() {
        LockBackend backend = fixture.backend(uri);
        take(backend, claim("warm up"));
        proxy.reset();

        take(backend, claim("answered by the next connection"));
        assertThat(release(backend, claim("a"))).isFalse();
        assertThat(backend.forceRelease("a", 1L << LockBackend.PASS_BITS).block(LIMIT))
                .isFalse();
    }

    private static Claim share(Claim claim) {
        return new Claim(
                claim.key(),
                claim.id(),
                "a share",
                claim.lease(),
                claim.mode(),
                Claim.Keeping.RENEWED,
                Share.permits(1, 4));
    }

    private static boolean isOwner(LockBackend backend, Claim claim) {
        return backend.renew(List.of(claim)).block(LIMIT).renewed().contains(claim.id());
    }

    @RepeatedTest(5)
    void anAcquisitionWhoseAnswerWasLostSucceedsAndOneReleaseFreesIt() {
        LockClient client = RedisFixture.client(fixture.backend(uri));
        client.acquire("warm up").flatMap(LockHandle::release).block(LIMIT);
        proxy.dropReplies();
        CompletableFuture<LockHandle> acquired = client.acquire("a").toFuture();
        eventually("it is granted", () -> fixture.redis.exists("{reactivelock:a}") == 1);

        proxy.mend();

        LockHandle held = within(acquired);
        assertThat(held.isHeld()).isTrue();
        held.release().block(LIMIT);
        assertThat(fixture.redis.exists("{reactivelock:a}")).isZero();
        client.close().block(LIMIT);
    }

    @RepeatedTest(5)
    void aClientWithOurCustomizerResendsWhatAResetLeftUnanswered() {
        ClientResources resources = ClientResources.builder()
                .nettyCustomizer(LettuceLockBackend.nettyCustomizer())
                .build();
        RedisClient application = RedisClient.create(resources);
        LockBackend backend = LettuceLockBackend.using(application, RedisURI.create(uri));
        take(backend, claim("warm up"));
        Claim claim = claim("a");
        proxy.dropReplies();
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
        eventually("it is granted", () -> fixture.redis.exists("{reactivelock:a}") == 1);

        proxy.mend();

        assertThat(within(answer)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(release(backend, claim)).isTrue();
        backend.close().block(LIMIT);
        application.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static <T> T within(CompletableFuture<T> answer) {
        return answer.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }
}
