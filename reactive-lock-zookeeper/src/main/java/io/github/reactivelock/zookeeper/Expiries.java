package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The ends of holds without renewal, whose nodes would live as long as the session. */
final class Expiries {

    private final Nodes nodes;
    private final Removals removals;
    private final SignalSink pushes;

    Expiries(Nodes nodes, Removals removals, SignalSink pushes) {
        this.nodes = nodes;
        this.removals = removals;
        this.pushes = pushes;
    }

    /** Ends the hold when its lease is over from now on, if it is not renewed. */
    void begin(ClaimState standing, Node node) {
        Claim claim = standing.claim;
        if (claim.keeping() == Claim.Keeping.ONCE) {
            Mono<?> end = Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> expire(standing, node));
            standing.endBy(FireAndForget.run("ending a hold whose lease ran out", end));
        }
    }

    private void expire(ClaimState standing, Node node) {
        if (standing.vanished(node, LossReason.EXPIRED)) {
            Claim claim = standing.claim;
            pushes.push(new Signal.Suspect(claim.id(), LossReason.EXPIRED));
            Disposable unused =
                    FireAndForget.run("removing an expired hold", removals.finishing(claim, nodes.delete(node.path())));
        }
    }
}
