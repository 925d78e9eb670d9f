package io.github.reactivelock.simulation;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Judges what a lock may be expected to give. With a store that answers and without a fault near, no flow fails and no
 * hold is lost. A hold that is renewed is lost by its lease only if something kept it from being renewed until shortly
 * before its end: a pause, say, that is shorter than half a lease does not. A claim of permits that the store refuses
 * ends the wait of one flow, as long as others have permits that go round.
 *
 * <p>Plans in which the way to the store takes long beside a lease are not judged, nor those whose threads stand still.
 */
final class Availability {

    /** What a try of a quorum says that may not answer "busy", because no majority names one owner with one token. */
    private static final String NOT_KNOWN = "it is not known whether the lock is free";

    private static final long COMMAND = Duration.ofSeconds(2).toNanos();
    private static final long SLACK = Duration.ofMillis(100).toNanos();

    private final World world;
    private final Plan plan;
    private final Consumer<String> wrong;
    /** Claims of permits that were refused, each of which one flow wanted. */
    private final Set<String> refused = new HashSet<>();

    private long brokenUntil;

    Availability(World world, Plan plan, Consumer<String> wrong) {
        this.world = world;
        this.plan = plan;
        this.wrong = wrong;
    }

    /** Something broke that holds and claims suffer from. */
    void broke(long until) {
        brokenUntil = Math.max(brokenUntil, until);
    }

    /** An answer takes no longer than that, or the plan is not judged. */
    private long longestWay() {
        Manner manner = plan.manner();
        return 5 * manner.latency() + 2 * manner.latest();
    }

    private boolean isJudged(Duration lease) {
        return plan.standstill() == 0 && longestWay() < Math.min(COMMAND, lease.toNanos() / 3) / 4;
    }

    /**
     * A flow failed.
     *
     * @param began when it did
     */
    void failed(Machine machine, LockOptions options, long began, Throwable failure) {
        boolean mayWaitForAnswers =
                options.waitTimeout().map(limit -> limit.toNanos() > COMMAND).orElse(true);
        if (!(failure instanceof LockUnavailableException) || !mayWaitForAnswers || !isJudged(options.lease())) {
            return; // a wait that ends before the first answer fails with the store's silence
        }
        if (String.valueOf(failure.getMessage()).contains(NOT_KNOWN)) {
            return; // of a lock that others ask for meanwhile; whether a free one is given, tried() judges
        }
        long calmSince = Math.max(brokenUntil, machine.hinderedUntil());
        if (calmSince + COMMAND + options.lease().toNanos() < began) {
            wrong.accept("nothing was broken for " + (world.now() - calmSince) / 1_000_000 + " ms, and a flow of "
                    + machine.name + " failed: " + failure);
        }
    }

    /** Machines tried at once for a lock that was free since long before that: one gets it. */
    void tried(List<Machine> rivals, long began, int winners) {
        long calmSince = rivals.stream().mapToLong(Machine::hinderedUntil).reduce(brokenUntil, Math::max);
        if (winners != 1
                && isJudged(plan.lease())
                && calmSince + COMMAND + plan.lease().toNanos() < began) {
            wrong.accept("nothing was broken for " + (world.now() - calmSince) / 1_000_000 + " ms, and of "
                    + rivals.size() + " that tried at once for a free lock " + winners + " got it");
        }
    }

    /** A flow that wanted permits failed, because the store refused a claim, and others of its process have permits. */
    void refused(Refusal refusal) {
        if (!refused.add(refusal.claim)) {
            wrong.accept("a second flow failed because claim " + refusal.claim + " was refused");
        }
    }

    /** A hold was lost. */
    void lost(Holding hold, LockOptions options, LockLostException loss) {
        boolean isByLease = loss.reason() == LossReason.EXPIRED || loss.reason() == LossReason.UNREACHABLE;
        if (!isByLease || !options.isRenewed() || !isJudged(options.lease())) {
            return;
        }
        long lease = options.lease().toNanos();
        long calmSince = Math.max(brokenUntil, hold.machine.hinderedUntil());
        long needed = Math.min(COMMAND, lease / 3) + lease / 4 + 3 * longestWay() + SLACK;
        if (calmSince + needed < hold.reliedUntil()) {
            wrong.accept(hold + " was lost (" + loss.reason() + "), though it was relied on for "
                    + (hold.reliedUntil() - calmSince) / 1_000_000 + " ms after the last fault");
        }
    }
}
