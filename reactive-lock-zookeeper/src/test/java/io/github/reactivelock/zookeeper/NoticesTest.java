package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** How a client hears that its holds were ended by force. */
class NoticesTest extends Fixture {

    private void untilItHasItsNode() throws InterruptedException {
        ZooKeepers.until(
                "it has its notice node",
                () -> ZooKeepers.children(zookeeper, "/reactivelock").stream().anyMatch(name -> name.startsWith("!")));
    }

    private static Signal forced(Claim claim) {
        return new Signal.Suspect(claim.id(), LossReason.FORCED);
    }

    /** A notice takes the place of the one before. What is not renewed would not be asked about again. */
    @Test
    void holdsThatAreEndedByForceTogetherAreAllTold() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        ZooKeeperLockBackend operator = backend();
        Queue<Signal> signals = listen(backend);
        untilItHasItsNode();
        List<Claim> held = IntStream.range(0, 30)
                .mapToObj(i -> claim(key + i, Claim.Mode.QUEUE, LEASE, Claim.Keeping.ONCE))
                .toList();
        List<Long> tokens = new ArrayList<>();
        held.forEach(claim -> tokens.add(granted(ZooKeepers.get(backend.claim(claim)))));

        List<Boolean> ended = Flux.range(0, held.size())
                .flatMap(i -> operator.forceRelease(key + i, tokens.get(i)), held.size())
                .collectList()
                .block(ZooKeepers.LIMIT);

        assertThat(ended).hasSize(30).containsOnly(true);
        ZooKeepers.until("all are told", () -> held.stream().allMatch(claim -> signals.contains(forced(claim))));
    }

    @Test
    void theWayOfASignalDoesNotBecomeLongerWithEveryNotice() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Long> frames = new ConcurrentLinkedQueue<>();
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        Disposable listening = backend.signals()
                .doOnNext(signal -> frames.add(StackWalker.getInstance().walk(stack -> stack.count())))
                .filter(Signal.Suspect.class::isInstance)
                .subscribe(signals::add, error -> {});
        untilItHasItsNode();
        frames.clear();

        for (int i = 0; i < 50; i++) {
            Claim held = claim();
            long token = granted(ZooKeepers.get(backend.claim(held)));
            assertThat(ZooKeepers.get(backend.forceRelease(key, token))).isTrue();
            ZooKeepers.until("it is told", () -> signals.contains(forced(held)));
        }

        listening.dispose();
        List<Long> ways = List.copyOf(frames);
        assertThat(ways).hasSizeGreaterThanOrEqualTo(50);
        assertThat(ways.get(ways.size() - 1)).isLessThan(ways.get(0) + 50);
    }
}
