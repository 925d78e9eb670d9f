package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Who looks is shown, and told to be true, only what a majority stands for. */
class TrueLooksTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private long nanos;
    /** The clients' clock, so early that nodes which number from one take what is proposed. */
    private int words;

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final List<InMemoryLockBackend> stores =
            new ArrayList<>(Stream.generate(this::newStore).limit(3).toList());
    private final Set<Integer> cutOff = new HashSet<>();
    private final List<String> asked = new ArrayList<>();
    private final QuorumLockBackend holder = client();
    private final QuorumLockBackend waiter = client();

    @Test
    void aWaitingClaimIsNotShownAsOwnerAfterNodesRestartedEmpty() {
        for (List<Integer> restarted : List.of(List.of(0, 1), List.of(1, 2), List.of(0, 2), List.of(0, 1, 2))) {
            for (boolean isHeld : List.of(true, false)) {
                stores.replaceAll(old -> newStore());
                pass(Duration.ofHours(1));
                if (isHeld) {
                    assertThat(ask(holder, claim("held", "holder"))).isInstanceOf(ClaimResult.Granted.class);
                    assertThat(ask(waiter, claim("waits", "waiter"))).isInstanceOf(ClaimResult.Queued.class);
                }

                restarted.forEach(node -> stores.set(node, newStore()));
                for (int round = 0; round < 5; round++) {
                    assertThat(ask(waiter, claim("waits", "waiter"))).isInstanceOf(ClaimResult.Queued.class);
                    for (List<Integer> silent : List.of(List.<Integer>of(), List.of(0), List.of(1), List.of(2))) {
                        cutOff.addAll(silent);
                        assertThat(isShown("waiter"))
                                .as("%s restarted, %s silent", restarted, silent)
                                .isFalse();
                        cutOff.clear();
                    }
                    pass(Duration.ofSeconds(1));
                }

                pass(LEASE.plusSeconds(30));
                assertThat(ask(waiter, claim("waits", "waiter"))).isInstanceOf(ClaimResult.Granted.class);
                assertThat(isShown("waiter")).as("nodes count again").isTrue();
                release(waiter, claim("waits", "waiter"));
            }
        }
    }

    @Test
    void aTokenWhoseReleaseANodeMissedIsNeverCurrent() {
        for (int missing = 0; missing < 3; missing++) {
            stores.replaceAll(old -> newStore());
            pass(Duration.ofHours(1));
            long token = granted(ask(holder, claim("first", "same")));
            cutOff.add(missing);
            release(holder, claim("first", "same"));
            // A later claim of the same owner has the vote of one node, because it does not reach another.
            cutOff.add((missing + 1) % 3);
            String unusedFailure = failureOf(holder.claim(claim("second", "same")));

            for (List<Integer> silent : List.of(List.<Integer>of(), List.of(0), List.of(1), List.of(2))) {
                cutOff.clear();
                cutOff.addAll(silent);
                assertThat(isCurrent(token)).isFalse();
                assertThat(isShown("same")).isFalse();
            }
            cutOff.clear();
            assertThat(isForced(token)).isFalse();
        }
    }

    /** The third node numbered its vote by itself, when another claim left; then the first one forgets. */
    @Test
    void aHoldWithoutANodeIsCurrentThoughAnotherNodeNumberedItsVote() {
        pass(Duration.ofHours(1));
        Claim other = claim("other", "other");
        assertThat(stores.get(2)
                        .vote(other, 1, 6_001L << QuorumNode.PASS_BITS, Duration.ZERO)
                        .block(LIMIT))
                .isNotNull();
        Claim held = claim("held", "holder");
        long token = granted(ask(holder, held));
        assertThat(stores.get(2).release(other).block(LIMIT)).isTrue();
        assertThat(shownBy(2)).isGreaterThan(token);

        asked.clear();
        assertThat(holder.renew(List.of(held)).block(LIMIT).renewed()).containsExactly("held");
        assertThat(asked)
                .as("a vote could take anew what an operator has just ended by force")
                .contains("raise")
                .doesNotContain("vote", "claim");

        assertThat(shownBy(2)).isEqualTo(token);
        stores.set(0, newStore());
        assertThat(isCurrent(token)).isTrue();
        assertThat(isShown("holder")).isTrue();
        assertThat(isForced(token)).isTrue();
    }

    // ---- three stores that may be cut off, and may restart empty

    private long shownBy(int node) {
        return ((LockInfo.Held)
                        stores.get(node).inspect("k").blockOptional(LIMIT).orElseThrow())
                .fencingToken();
    }

    private boolean isCurrent(long token) {
        return isTrue(waiter.isCurrent("k", token));
    }

    private boolean isForced(long token) {
        return isTrue(waiter.forceRelease("k", token));
    }

    private boolean isShown(String owner) {
        return isTrue(waiter.inspect("k").map(info -> info.isHeldBy(owner)));
    }

    /** A question that fails says neither. */
    private boolean isTrue(Mono<Boolean> question) {
        return Boolean.TRUE.equals(result(question.onErrorReturn(false)));
    }

    private static long granted(Object result) {
        return ((ClaimResult.Granted) result).fencingToken();
    }

    private ClaimResult ask(QuorumLockBackend client, Claim claim) {
        return result(client.claim(claim));
    }

    private void release(QuorumLockBackend client, Claim claim) {
        Object unused = result(client.release(claim).onErrorReturn(false));
    }

    private String failureOf(Mono<?> question) {
        return result(question.<String>map(String::valueOf).onErrorResume(e -> Mono.just(String.valueOf(e))));
    }

    private <T> T result(Mono<T> question) {
        List<T> answers = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        var asked = question.subscribe(answers::add, failures::add);
        for (int i = 0; i < 5_000 && answers.isEmpty() && failures.isEmpty(); i++) {
            pass(Duration.ofMillis(1));
        }
        asked.dispose();
        assertThat(failures).isEmpty();
        return answers.get(0);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        timer.advanceTimeBy(time);
    }

    private InMemoryLockBackend newStore() {
        return InMemoryLockBackend.create(() -> nanos);
    }

    private QuorumLockBackend client() {
        QuorumNode[] nodes = IntStream.range(0, 3).mapToObj(this::way).toArray(QuorumNode[]::new);
        return QuorumLockBackend.of(
                        new Surroundings(
                                timer, () -> nanos, () -> EPOCH.plusNanos(1_000L * ++words), (from, to) -> from),
                        nodes)
                .withLongestLease(LEASE);
    }

    private QuorumNode way(int number) {
        return (QuorumNode) Proxy.newProxyInstance(
                QuorumNode.class.getClassLoader(), new Class<?>[] {QuorumNode.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("hashCode")) {
                        return System.identityHashCode(proxy);
                    } else if (method.getName().equals("equals")) {
                        return proxy == arguments[0];
                    }
                    asked.add(method.getName());
                    return cutOff.contains(number)
                            ? Mono.error(new IllegalStateException("cut off"))
                            : method.invoke(stores.get(number), arguments);
                });
    }

    private static Claim claim(String id, String owner) {
        return new Claim("k", id, owner, LEASE, Claim.Mode.QUEUE);
    }
}
