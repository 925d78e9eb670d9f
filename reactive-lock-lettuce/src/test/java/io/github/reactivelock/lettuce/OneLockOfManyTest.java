package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/**
 * Of several locks in one call, each is answered for itself, and what a hold needs comes before what may be refused.
 */
class OneLockOfManyTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
    }

    private static Claim permit(String key) {
        Claim whole = claim(key);
        return new Claim(
                key,
                whole.id(),
                "a permit",
                whole.lease(),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                Share.permits(1, 4));
    }

    private Claim taken(Claim claim) {
        take(backend, claim);
        return claim;
    }

    /** A lock that two share, so that it needs all of its keys. */
    private Claim shared(String key) {
        Claim unused1 = taken(permit(key));
        return taken(permit(key));
    }

    private static List<String> ids(Claim... claims) {
        return Stream.of(claims).map(Claim::id).toList();
    }

    private RenewalResult renewed(Claim... claims) {
        return backend.renew(List.of(claims)).block(RedisFixture.PATIENCE);
    }

    @Test
    void aServerWithoutMemoryRenewsWholeLocksAndSharesAlike() {
        Claim whole = taken(claim("whole"));
        Claim alone = taken(permit("alone"));
        Claim one = shared("one");
        Claim other = shared("other");
        fixture.redis.pexpire("{reactivelock:one}", 30_000);
        fixture.redis.configSet("maxmemory", "1");

        for (int i = 0; i < 2; i++) {
            assertThat(renewed(one, whole, alone, other).renewed())
                    .containsExactlyInAnyOrderElementsOf(ids(whole, alone, one, other));
            assertThat(renewed(one).renewed()).containsExactly(one.id());
        }
        assertThat(fixture.redis.pttl("{reactivelock:one}")).isGreaterThan(60_000);
    }

    /** The engine asks so when it is not sure how long a grant is good. */
    @Test
    void aServerWithoutMemoryConfirmsTheClaimsOfOwners() {
        Claim whole = taken(claim("whole"));
        Claim share = shared("shared");
        fixture.redis.configSet("maxmemory", "1");

        assertThat(ask(backend, whole)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(ask(backend, share)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.keep(share, permit("shared")).block()).isTrue();
        assertThat(release(backend, whole)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{reactivelock:bad}:queue", "{reactivelock:bad}:waiters", "{reactivelock:bad}"})
    void whatIsForeignInOneLockIsSaidOfThatOneOnly(String spoiled) {
        Claim bad = shared("bad");
        Claim good = shared("good");
        Claim alone = taken(permit("alone"));
        Claim whole = taken(claim("whole"));
        fixture.redis.del(spoiled);
        fixture.redis.rpush(spoiled, "somebody's");

        RenewalResult answer = renewed(bad, good, alone, whole);

        assertThat(answer.renewed()).containsAll(ids(good, alone, whole));
        if (spoiled.endsWith(":queue")) {
            assertThat(answer.refused()).containsOnlyKeys(bad.id());
            assertThat(answer.refused().get(bad.id())).hasMessageContaining("'" + spoiled + "' (a list)");
            assertThat(answer.lost()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 20})
    void aKeyThatTheUserMayNotTouchAnyMoreEndsNoOtherHold(int locks) {
        fixture.server.command("ACL", "SETUSER", "narrow", "on", ">pw", "~*", "&*", "+@all");
        backend = fixture.backend(fixture.server.uri().replace("redis://", "redis://narrow:pw@"));
        List<Claim> held = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            held.add(taken(i % 3 == 1 ? permit("key-" + i) : claim("key-" + i)));
        }
        Claim last = held.get(locks - 1);
        fixture.server.command("ACL", "SETUSER", "narrow", "resetkeys");
        for (Claim claim : held.subList(0, locks - 1)) {
            fixture.server.command("ACL", "SETUSER", "narrow", "~{reactivelock:" + claim.key() + "}*");
        }

        RenewalResult answer = backend.renew(held).block(RedisFixture.PATIENCE);

        assertThat(answer.renewed())
                .containsExactlyInAnyOrderElementsOf(
                        held.subList(0, locks - 1).stream().map(Claim::id).toList());
        assertThat(answer.refused()).containsOnlyKeys(last.id());
        assertThat(answer.refused().get(last.id())).hasMessageContaining("NOPERM");
    }

    @Test
    void aClaimForAForbiddenLockFailsNoneBesideIt() {
        fixture.server.command(
                "ACL", "SETUSER", "orders", "on", ">pw", "resetkeys", "~{reactivelock:order*", "&*", "+@all");
        backend = fixture.backend(fixture.server.uri().replace("redis://", "redis://orders:pw@"));
        Claim unused2 = taken(claim("order-0"));

        List<Claim> claims = Stream.of("order-1", "user-1", "order-2", "order-3")
                .map(RedisFixture::claim)
                .toList();

        List<Signal<ClaimResult>> answers = backend.inspect("order-0")
                .flatMapMany(turn -> Flux.fromIterable(claims)
                        .flatMapSequential(claim -> backend.claim(claim).materialize()))
                .collectList()
                .block(RedisFixture.PATIENCE);

        assertThat(answers.get(1).getThrowable()).hasMessageContaining("NOPERM");
        for (int i : List.of(0, 2, 3)) {
            assertThat(answers.get(i).get()).isInstanceOf(ClaimResult.Granted.class);
        }
    }

    @Test
    void foreignDataInALocksPlaceIsLeftOutOfAList() {
        Claim unused3 = taken(claim("a"));
        Claim unused4 = taken(claim("b"));
        fixture.redis.set("{reactivelock:text}", "somebody's");
        queue(backend, claim("b"));
        fixture.redis.set("{reactivelock:b}:waiters", "somebody's");

        List<LockInfo.Held> held = new ArrayList<>();
        String next = "";
        do {
            LockPage page = backend.list("", next).block(RedisFixture.PATIENCE);
            held.addAll(page.locks());
            next = page.next();
        } while (!next.isEmpty());

        assertThat(held).extracting(LockInfo.Held::key).containsOnly("a");
    }

    @Test
    void aSpoiledLocksHoldIsLostWithTheReasonAndNoOther() {
        LockOptions options = LockOptions.defaults().withLease(Duration.ofSeconds(9));
        LockClient client = RedisFixture.client(backend).with(options);
        LockClient other = RedisFixture.client(fixture.backend()).with(options);
        LockHandle bad = client.permits(1, 2).acquire("bad").block(RedisFixture.PATIENCE);
        LockHandle badOfOther = other.permits(1, 2).acquire("bad").block(RedisFixture.PATIENCE);
        LockHandle good = client.permits(1, 2).acquire("good").block(RedisFixture.PATIENCE);
        LockHandle goodOfOther = other.permits(1, 2).acquire("good").block(RedisFixture.PATIENCE);
        LockHandle whole = client.acquire("whole").block(RedisFixture.PATIENCE);
        fixture.redis.set("{reactivelock:bad}:queue", "somebody's");

        assertThat(bad.lost().block(RedisFixture.PATIENCE).getCause()).hasMessageContaining("{reactivelock:bad}:queue");
        eventually("lost as well", () -> !badOfOther.isHeld());

        assertThat(Stream.of(good, goodOfOther, whole)).allMatch(LockHandle::isHeld);
        Mono.when(good.release(), goodOfOther.release(), whole.release()).block(RedisFixture.PATIENCE);
        Mono.when(client.close(), other.close()).block(RedisFixture.PATIENCE);
    }
}
