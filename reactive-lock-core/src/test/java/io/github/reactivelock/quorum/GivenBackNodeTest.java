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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Node 1 was told to give its vote back and has not said that it did, when the claim is granted by nodes 0 and 2. */
class GivenBackNodeTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Instant TIME = Instant.parse("2020-01-01T00:00:00.001Z");

    private long nanos;
    private final Sinks.One<Boolean> slow = Sinks.one();
    private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(() -> nanos))
            .limit(3)
            .toList();

    private final class Site {
        private final Set<Integer> cutOff = new HashSet<>();
        private final Set<Integer> slowToRelease = new HashSet<>();
        private final QuorumLockBackend quorum = QuorumLockBackend.of(
                new Surroundings(VirtualTimeScheduler.create(), () -> nanos, () -> TIME, (from, to) -> from),
                IntStream.range(0, 3).mapToObj(this::way).toArray(QuorumNode[]::new));

        private QuorumNode way(int number) {
            QuorumNode node = stores.get(number).connect();
            return (QuorumNode) Proxy.newProxyInstance(
                    QuorumNode.class.getClassLoader(),
                    new Class<?>[] {QuorumNode.class},
                    (proxy, method, arguments) -> {
                        if (method.getReturnType().equals(Mono.class) && cutOff.contains(number)) {
                            return Mono.error(new IllegalStateException("cut off"));
                        }
                        Object answer = method.invoke(node, arguments);
                        return method.getName().equals("release") && slowToRelease.contains(number)
                                ? ((Mono<?>) answer).delayUntil(was -> slow.asMono())
                                : answer;
                    });
        }

        private ClaimResult asks(Claim claim) {
            return quorum.claim(claim).blockOptional(LIMIT).orElseThrow();
        }
    }

    private static Claim claim(String id) {
        return new Claim("k", id, id, LEASE, Claim.Mode.QUEUE);
    }

    private final Site one = new Site();
    private final Site other = new Site();
    private final Claim first = claim("first");
    private final Claim second = claim("second");

    @BeforeEach
    void nodeTwoIsAnothers() {
        nanos += Duration.ofDays(1).toNanos();
        Object unused = stores.get(2).vote(second, 1, 0).block(LIMIT);
        one.cutOff.add(1);
    }

    /** A renewal counts the vote that is being given back; the release that is read late frees it under the hold. */
    @Test
    void noHoldRestsOnAVoteThatIsBeingGivenBack() {
        Object unused = stores.get(1).vote(first, 1, 0).block(LIMIT); // its answer was lost
        for (int i = 0; i < 4; i++) {
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        } // the release to node 1 is in the network, on a connection that broke
        unused = stores.get(2).release(second).block(LIMIT);
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class); // of nodes 0 and 2

        one.cutOff.clear();
        one.cutOff.add(0); // for longer than a lease; node 1 is back
        boolean relies = true;
        for (int i = 0; i < 4; i++) {
            relies = relies
                    && one.quorum
                            .renew(List.of(first))
                            .blockOptional(LIMIT)
                            .orElseThrow()
                            .renewed()
                            .contains("first");
            nanos += i < 3 ? Duration.ofSeconds(4).toNanos() : 0;
        }
        unused = stores.get(1).release(first).block(LIMIT); // read at last

        boolean another = other.asks(claim("third")) instanceof ClaimResult.Granted;
        assertThat(relies && another).as("two holders").isFalse();
    }

    /** The node says that the vote is back after the grant: it has to be asked all the same, or the hold is short of it. */
    @Test
    void aNodeThatIsSlowToSayThatAVoteIsBackIsAskedThoughTheRoundIsOver() {
        for (int i = 0; i < 3; i++) {
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        }
        one.slowToRelease.add(1);
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class); // gives back; node 1 cannot be reached
        one.cutOff.clear();
        Object unused = stores.get(2).release(second).block(LIMIT);
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class); // node 1 is told again, and is slow

        slow.tryEmitValue(true).orThrow();

        assertThat(stores.get(1).inspect("k").block(LIMIT)).isNotInstanceOf(LockInfo.Free.class);
    }
}
