package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Looking at locks from outside: who holds one, since when, who waits, and which are held at all. */
abstract class LookingCases extends Cases {

    private static final int MANY = 1_100;

    LookingCases(LockBackendContract contract) {
        super(contract);
    }

    private static Set<String> keys(List<LockInfo.Held> listed) {
        return listed.stream().map(LockInfo.Held::key).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aHeldLockSaysByWhomAndForHowLong() {
        LockClient holding = client(contract.newBackend(), settings -> settings.name("holder of this"));
        LockClient observer = client();
        assertThat(Await.get(observer.inspect(key)).isFree()).isTrue();
        assertThat(Await.get(observer.inspect(key)).held()).isEmpty();
        LockHandle held = Await.get(holding.acquire(key));

        LockInfo info = Await.get(observer.inspect(key));

        assertThat(info.isHeld()).isTrue();
        assertThat(info.isHeldBy("holder of this")).isTrue();
        assertThat(info.isHeldBy("another")).isFalse();
        assertThat(info.held()).hasValueSatisfying(seen -> {
            assertThat(seen.fencingToken()).isEqualTo(held.fencingToken());
            assertThat(seen.queue()).isEmpty();
            assertAge(seen.age(), Feature.AGE_OF_HOLDS);
        });
        Await.run(held.release());
    }

    /** A known age grows, and is one that this case can have. */
    private void assertAge(@Nullable Duration age, Feature known) {
        if (contract.lacking().contains(known)) {
            assertThat(age).isNull();
        } else {
            assertThat(age).isBetween(Duration.ZERO, Duration.ofMinutes(2));
        }
    }

    @Test
    void whoWaitsIsShownInOrder() {
        needs(Feature.SHOWN_WAITERS);
        LockClient first = client(contract.newBackend(), settings -> settings.name("first"));
        LockClient second = client(contract.newBackend(), settings -> settings.name("second"));
        LockClient observer = client();
        LockHandle held = Await.get(observer.acquire(key));
        CompletableFuture<LockHandle> one = first.acquire(key).toFuture();
        untilQueued(observer, key, 1);
        CompletableFuture<LockHandle> other = second.acquire(key).toFuture();

        LockInfo.Held seen = Await.seen(
                "two wait", () -> Await.get(observer.inspect(key)).held().orElseThrow(), lock -> lock.waiters() == 2);

        List<LockInfo.Waiting> queue = seen.queue();
        assertThat(queue).extracting(LockInfo.Waiting::owner).containsExactly("first", "second");
        queue.forEach(waiting -> assertAge(waiting.age(), Feature.AGE_OF_WAITERS));
        Await.run(held.release());
        Await.run(Await.get(one).release());
        Await.run(Await.get(other).release());
    }

    @Test
    void aListHasWhatIsHeldAndNothingElse() {
        needs(Feature.LISTING);
        LockClient client = client();
        String prefix = key("list:");
        List<LockHandle> held = List.of(
                Await.get(client.acquire(key("list:a"))),
                Await.get(client.acquire(key("list:b"))),
                Await.get(client.acquire(key("list"))));
        CompletableFuture<LockHandle> waiting =
                client().acquire(held.get(0).key()).toFuture();

        List<LockInfo.Held> listed = Await.seen(
                "the list shows who waits",
                () -> Await.get(client().list(prefix).collectList()),
                locks -> locks.stream().anyMatch(lock -> lock.waiters() == 1));

        assertThat(keys(listed)).containsExactly(held.get(0).key(), held.get(1).key());
        assertThat(listed)
                .filteredOn(lock -> lock.key().equals(held.get(0).key()))
                .allSatisfy(lock -> {
                    assertThat(lock.fencingToken()).isEqualTo(held.get(0).fencingToken());
                    assertThat(lock.waiters()).isEqualTo(1);
                });
        held.forEach(each -> Await.run(each.release()));
        Await.run(Await.get(waiting).release());
        assertThat(Await.get(client().list(prefix).collectList())).isEmpty();
    }

    /** Signs that have a meaning in patterns and in names stand for themselves. */
    @Test
    void aPrefixStandsForItself() {
        needs(Feature.LISTING);
        LockClient client = client();
        List<String> prefixes = List.of("*", "?x", "[a-z]", "\\", "%", "_", "{x}", "/", "ä", "'");
        List<LockHandle> held = prefixes.stream()
                .map(sign -> Await.get(client.acquire(oddKey("", sign + ":end"))))
                .toList();

        for (int i = 0; i < held.size(); i++) {
            String known = held.get(i).key();
            String prefix = known.substring(0, known.length() - ":end".length());
            assertThat(keys(Await.get(client.list(prefix).collectList()))).containsExactly(known);
        }
        held.forEach(each -> Await.run(each.release()));
    }

    /**
     * More than any store gives in one part. The claims are the store's alone: no client renews all of them meanwhile.
     */
    @Test
    void aLongListComesInPartsAsItIsAskedFor() {
        needs(Feature.LISTING);
        LockBackend backend = closedAtTheEnd(contract.newBackend());
        LockClient client = client();
        String prefix = key("many:");
        List<Claim> claims = IntStream.range(0, MANY)
                .mapToObj(number -> new Claim(
                        key("many:" + number), "claim-" + number, "a list", Duration.ofMinutes(10), Claim.Mode.QUEUE))
                .toList();
        Await.run(
                Flux.fromIterable(claims)
                        .flatMap(claim -> patiently(granted(backend, claim)), AT_ONCE)
                        .then(),
                Await.LONG_LIMIT);

        List<LockInfo.Held> listed =
                Await.get(patiently(client.list(prefix).limitRate(10).collectList()), Await.LONG_LIMIT);
        List<LockInfo.Held> first =
                Await.get(patiently(client.list(prefix).take(3).collectList()), Await.LONG_LIMIT);

        assertThat(keys(listed))
                .isEqualTo(claims.stream().map(Claim::key).collect(Collectors.toCollection(TreeSet::new)));
        assertThat(first).hasSize(3);
        Await.run(
                Flux.fromIterable(claims)
                        .flatMap(claim -> patiently(backend.release(claim)), AT_ONCE)
                        .then(),
                Await.LONG_LIMIT);
    }

    private static Mono<ClaimResult.Granted> granted(LockBackend backend, Claim claim) {
        return backend.claim(claim).cast(ClaimResult.Granted.class);
    }

    /** What is said is idempotent, so it is said again where a busy store was late. */
    private static <T> Mono<T> patiently(Mono<T> question) {
        return question.retry(9);
    }
}
