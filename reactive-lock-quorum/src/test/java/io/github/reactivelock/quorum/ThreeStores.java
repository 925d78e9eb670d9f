package io.github.reactivelock.quorum;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Three stores in the process, in a time of their own, and clients of the quorum that they are. */
final class ThreeStores {

    static final Duration LEASE = Duration.ofSeconds(10);
    static final Duration LIMIT = Duration.ofSeconds(60);
    /** So early that nodes which number from one take what is proposed. */
    private static final Instant TIME = Instant.parse("2020-01-01T00:00:00.001Z");

    private long nanos;
    private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(() -> nanos))
            .limit(3)
            .toList();

    /** A client, and the nodes that it cannot reach at the moment. */
    final class Site {
        final Set<Integer> cutOff = new HashSet<>();
        /** What the answer to a release waits for that a node has carried out. */
        final Map<Integer, Mono<?>> late = new HashMap<>();

        final QuorumLockBackend quorum =
                quorum(IntStream.range(0, 3).mapToObj(this::way).toArray(QuorumNode[]::new));

        private QuorumNode way(int number) {
            QuorumNode node = store(number).connect();
            return (QuorumNode) Proxy.newProxyInstance(
                    QuorumNode.class.getClassLoader(),
                    new Class<?>[] {QuorumNode.class},
                    (proxy, method, arguments) -> {
                        if (method.getReturnType().equals(Mono.class) && cutOff.contains(number)) {
                            return Mono.error(new IllegalStateException("cut off"));
                        }
                        Object answer = method.invoke(node, arguments);
                        return method.getName().equals("release") && late.containsKey(number)
                                ? ((Mono<?>) answer).delayUntil(was -> late.get(number))
                                : answer;
                    });
        }

        ClaimResult asks(Claim claim) {
            return quorum.claim(claim).blockOptional(LIMIT).orElseThrow();
        }
    }

    Site site() {
        return new Site();
    }

    QuorumLockBackend quorum(QuorumNode... nodes) {
        return QuorumLockBackend.of(
                new Surroundings(VirtualTimeScheduler.create(), () -> nanos, () -> TIME, (from, to) -> from), nodes);
    }

    InMemoryLockBackend store(int number) {
        return stores.get(number);
    }

    boolean isFree(int number) {
        return store(number).inspect("k").blockOptional(LIMIT).orElseThrow() instanceof LockInfo.Free;
    }

    static Claim claim(String id) {
        return new Claim("k", id, id, LEASE, Claim.Mode.QUEUE);
    }

    void pass(Duration time) {
        nanos += time.toNanos();
    }

    void allHaveBeenUpForLong() {
        pass(Duration.ofDays(1));
    }
}
