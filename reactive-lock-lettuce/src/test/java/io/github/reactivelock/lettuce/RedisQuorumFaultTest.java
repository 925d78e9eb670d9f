package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.QuorumFixture.LIMIT;
import static io.github.reactivelock.lettuce.QuorumFixture.LONGEST_LEASE;
import static io.github.reactivelock.lettuce.QuorumFixture.hasGranted;
import static io.github.reactivelock.lettuce.QuorumFixture.isOwned;
import static io.github.reactivelock.lettuce.QuorumFixture.patiently;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Faults of nodes of a quorum, on five real servers. */
class RedisQuorumFaultTest {

    private static final LockOptions RENEWED = LockOptions.defaults().withLease(LONGEST_LEASE);
    private static final LockOptions ONCE = RENEWED.withoutRenewal();
    private static final int LONG_VISIT = 700;
    private static final int WHILE_IT_HOLDS = Integer.MAX_VALUE;

    private static QuorumFixture five;
    private final Acts acts = new Acts();

    @BeforeAll
    static void start() {
        five = new QuorumFixture();
    }

    @AfterAll
    static void stop() {
        five.close();
    }

    @BeforeEach
    void whole() {
        five.reset();
    }

    @Test
    void noTwoHoldAtOnceThoughTwoNodesDieAndOneForgets() {
        AtomicBoolean enough = new AtomicBoolean();
        List<String> names =
                IntStream.rangeClosed(1, 16).mapToObj(i -> "client-" + i).toList();
        // The first one holds for long and does not look again at what its nodes know.
        List<LockClient> clients = names.stream()
                .map(name -> five.client(name, name.equals(names.get(0)) ? ONCE : RENEWED))
                .toList();
        Disposable contending = Flux.range(0, names.size())
                .flatMap(
                        i -> clients.get(i)
                                .withLock("k", held -> acts.visit(names.get(i), held, i == 0 ? LONG_VISIT : 3))
                                .onErrorResume(failure ->
                                        Mono.delay(Duration.ofMillis(50)).then())
                                .repeat(() -> !enough.get()),
                        names.size())
                .subscribe(nothing -> {}, failure -> {});
        everyoneIsServedAgain(names);

        five.servers.get(3).kill();
        five.servers.get(4).kill();
        everyoneIsServedAgain(names);
        whileItHolds(clients.get(1), names.get(0), () -> five.servers.get(2).restartEmpty());
        everyoneIsServedAgain(names);
        // Now a majority has forgotten the holder, though each node while the others knew it.
        whileItHolds(clients.get(1), names.get(0), () -> {
            five.servers.get(3).restart();
            five.servers.get(4).restart();
            five.servers.get(2).restartEmpty();
        });
        everyoneIsServedAgain(names);

        enough.set(true);
        eventually("all are done", LIMIT, contending::isDisposed);
        acts.verify();
    }

    private static void whileItHolds(LockClient observer, String name, Runnable fault) {
        eventually(
                name + " holds",
                LIMIT,
                () -> patiently(observer.inspect("k")) instanceof LockInfo.Held held
                        && held.owner().equals(name));
        fault.run();
    }

    private void everyoneIsServedAgain(List<String> names) {
        List<Integer> before = names.stream().map(acts::count).toList();
        eventually(
                "every client is served",
                () -> IntStream.range(0, names.size()).allMatch(i -> acts.count(names.get(i)) > before.get(i)));
    }

    /** One client has nodes 1 to 3, node 3 forgets, and the other one would find a majority in nodes 3 to 5. */
    @Test
    void aNodeThatForgotDoesNotHelpASecondHolderToAMajority() {
        List<TcpProxy> partly = five.proxies();
        LockClient first = five.client("first", ONCE, partly);
        LockClient second = five.client("second", ONCE);
        partly.get(3).cut();
        partly.get(4).cut();
        LockHandle held = patiently(first.acquire("k"));
        CompletableFuture<Void> acting =
                acts.visit("first", held, WHILE_IT_HOLDS).toFuture();

        five.servers.get(2).restartEmpty();
        patiently(second.withLock("k", next -> acts.visit("second", next, 1)).thenReturn(true));

        acting.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(acts.count("first")).isEqualTo(1);
        acts.verify();
    }

    @Test
    void aRestartedNodeIsCountedAfterOneLeaseAndNotBefore() {
        LockClient client = five.client("a", RENEWED);
        five.servers.get(0).kill();
        five.servers.get(1).kill();
        long began = System.nanoTime();
        five.servers.get(2).restartEmpty();
        long up = System.nanoTime();

        Throwable refused = catchThrowable(() -> client.tryAcquire("k").block(LIMIT));
        if (System.nanoTime() - began < LONGEST_LEASE.toNanos()) {
            assertThat(refused)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("nodes answered and 3 are needed");
        }
        LockHandle held = patiently(client.acquire("k"));

        assertThat(System.nanoTime() - up).isGreaterThanOrEqualTo(LONGEST_LEASE.toNanos());
        assertThat(held.isHeld()).isTrue();
    }

    /**
     * The double lock by uneven leases: a holder has node 1 long before nodes 2 and 3, so that its lease ends there
     * first, and rivals who have nodes 4 and 5 lack only that one.
     */
    @Test
    void anEarlyGrantOfOneNodeThatEndsEarlyDoesNotMakeTwoOwners() {
        List<TcpProxy> uneven = five.proxies();
        LockClient slow = five.client("slow", ONCE, uneven);
        List<LockClient> rivals = IntStream.range(0, 3)
                .mapToObj(i -> five.client("rival-" + i, ONCE))
                .toList();
        uneven.get(1).delay(Duration.ofMillis(220));
        uneven.get(2).delay(Duration.ofMillis(220));
        uneven.get(3).cut();
        uneven.get(4).cut();

        LockHandle held = patiently(slow.acquire("k"));
        CompletableFuture<Void> acting =
                acts.visit("slow", held, WHILE_IT_HOLDS).toFuture();
        patiently(Flux.range(0, rivals.size())
                .flatMap(i -> rivals.get(i).withLock("k", next -> acts.visit("rival-" + i, next, 50)))
                .then(Mono.just(true)));

        acting.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(acts.count("slow")).isEqualTo(1);
        acts.verify();
    }

    /** What has no expiry any more goes by the release alone. */
    @Test
    void aReleaseReachesNodesThatDidNotAnswer() {
        List<TcpProxy> ways = five.proxies();
        LockClient client = five.patientClient("a", ways);
        RedisServer frozen = five.servers.get(3);
        RedisServer mute = five.servers.get(4);
        patiently(client.withLock("before", Mono.just("done")));
        // A majority suffices for that, and a connection that is opened to the mute node would wait for an answer.
        five.servers.forEach(node -> eventually("each has a connection", () -> hasGranted(node, "before")));
        ways.get(3).freeze();
        ways.get(4).dropReplies();

        LockHandle held = patiently(client.acquire("k"));
        eventually("the mute node has granted", () -> isOwned(mute, "k"));
        mute.command("PERSIST", "{reactivelock:k}");
        held.release().block(LIMIT);

        eventually("the mute node has heard of the release", () -> !isOwned(mute, "k"));
        assertThat(hasGranted(frozen, "k")).isFalse();
        ways.get(3).mend();
        eventually("the frozen node has heard of the claim", () -> hasGranted(frozen, "k"));
        frozen.command("PERSIST", "{reactivelock:k}");
        eventually("and of the release", () -> !isOwned(frozen, "k"));
        assertThat(held.isHeld()).isFalse();
    }

    @Test
    void anExtensionNeedsAMajority() {
        List<TcpProxy> ways = five.proxies();
        LockClient client = five.patientClient("a", ways);
        LockHandle held = patiently(client.acquire("k"));

        ways.get(0).freeze();
        ways.get(1).freeze();
        patiently(held.renew().thenReturn(true));
        assertThat(held.isHeld()).isTrue();

        ways.get(2).freeze();
        assertThatThrownBy(() -> held.renew().block(LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("only 2 of 5 nodes answered");
        assertThat(held.lost().block(LIMIT).reason()).isEqualTo(LossReason.UNREACHABLE);
    }

    @Test
    void theLossOfTheMajorityCancelsTheWorkBeforeAnybodyElseGetsTheLock() {
        List<TcpProxy> ways = five.proxies();
        LockClient client = five.client("cut off", RENEWED, ways);
        LockClient other = five.client("other", RENEWED);
        AtomicBoolean working = new AtomicBoolean();
        AtomicBoolean cancelled = new AtomicBoolean();
        CompletableFuture<Void> work = client.withLock(
                        "k",
                        held -> acts.visit("cut off", held, WHILE_IT_HOLDS)
                                .then(Mono.<Void>never())
                                .doOnSubscribe(begun -> working.set(true))
                                .doOnCancel(() -> cancelled.set(true)))
                .toFuture();
        eventually("it works", working::get);

        ways.subList(0, 3).forEach(TcpProxy::cut);
        patiently(other.withLock("k", held -> acts.visit("other", held, 3)).thenReturn(true));

        assertThat(catchThrowable(work::join)).hasCauseInstanceOf(LockLostException.class);
        eventually("its work is cancelled", cancelled::get);
        acts.verify();
    }

    /** Said again it finds nothing at those nodes, because the first one was carried out: that is no loss. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void aReleaseWhoseAnswersWereLostAtAMajorityIsNoLoss(int nodes) {
        List<TcpProxy> ways = five.proxies();
        LockClient client = five.patientClient("a", ways);
        LockHandle held = patiently(client.acquire("k"));
        ways.subList(0, nodes).forEach(TcpProxy::dropReplies);

        CompletableFuture<Void> released = held.release().toFuture();
        eventually("it is carried out", LIMIT, () -> five.servers.stream().noneMatch(node -> isOwned(node, "k")));
        ways.forEach(TcpProxy::mend);

        assertThatThrownBy(() ->
                        released.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join())
                .hasCauseInstanceOf(LockUnavailableException.class);
        patiently(client.withLock("k", Mono.just(1)));
    }

    @Test
    void aReleaseWhoseAnswersAMinorityLostEndsTheHold() {
        List<TcpProxy> ways = five.proxies();
        LockClient client = five.patientClient("a", ways);
        LockHandle held = patiently(client.acquire("k"));
        ways.subList(0, 2).forEach(TcpProxy::dropReplies);

        held.release().block(LIMIT);
    }

    /** The highest token of a majority is that of node 1; the next majority is without it. */
    @Test
    void theTokenRisesAlthoughTheNodeItCameFromIsGone() {
        LockClient client = five.client("a", RENEWED);
        long aheadOfAllClocks = 1L << 50;
        five.servers.get(0).command("SET", "{reactivelock:k}:token", Long.toString(aheadOfAllClocks));
        five.servers.get(3).pause();
        five.servers.get(4).pause();
        LockHandle first = patiently(client.acquire("k"));
        first.release().block(LIMIT);
        five.servers.get(3).resume();
        five.servers.get(4).resume();

        five.servers.get(0).kill();
        LockHandle second = patiently(client.acquire("k"));

        // Not exactly one more: a node's own number for a vote is a multiple of eight, and no grant's token is one.
        assertThat(first.fencingToken() >> 12).isGreaterThan(aheadOfAllClocks);
        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    }
}
