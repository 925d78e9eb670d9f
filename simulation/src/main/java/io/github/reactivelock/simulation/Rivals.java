package io.github.reactivelock.simulation;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * All machines try at once for a lock that is free and that no flow waits for, again and again. The one that gets it
 * keeps it until all have their answers.
 */
final class Rivals {

    private static final String KEY = "rivals";
    private static final long REST = 1_000_000_000;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final List<Member> members;
    private boolean ending;
    private boolean meeting;

    Rivals(World world, Plan plan, Oracle oracle, List<Member> members) {
        this.world = world;
        this.plan = plan;
        this.oracle = oracle;
        this.members = members;
    }

    void begin() {
        if (plan.hasRivals()) {
            meetIn(REST);
        }
    }

    /** They do not meet any more. */
    void end() {
        ending = true;
    }

    /** Some have no answer, or have not left. */
    boolean isUnderWay() {
        return meeting;
    }

    private void meetIn(long nanos) {
        world.at(world.now() + nanos, () -> {
            if (!ending) {
                new Meeting().begin();
            }
        });
    }

    private final class Meeting {

        private final long began = world.now();
        private final Sinks.Empty<Void> allAnswered = Sinks.empty();
        private int answered;
        private int winners;
        private int left;
        private boolean failed;

        void begin() {
            meeting = true;
            for (Member member : members) {
                member.machine.later(world.shortTime(2 * plan.manner().latency()), null, () -> tryOf(member));
            }
        }

        private void tryOf(Member member) {
            LockOptions options = LockOptions.defaults().withLease(plan.lease());
            member.client()
                    .with(options)
                    .tryAcquire(KEY)
                    .doOnError(failure -> oracle.failed(member.machine, KEY, options, began, failure))
                    .doOnTerminate(this::answered)
                    .flatMap(held -> has(held, member.machine, options))
                    .doFinally(signal -> leaves())
                    .subscribe(nothing -> {}, failure -> failed = true);
        }

        private Mono<Void> has(LockHandle held, Machine machine, LockOptions options) {
            winners++;
            oracle.acquired();
            Holding hold = oracle.begins(machine, held, options);
            return allAnswered
                    .asMono()
                    .takeUntilOther(held.lost().onErrorComplete())
                    .doFinally(signal -> oracle.ends(hold))
                    .then(held.release());
        }

        /** The handle, if there is one, comes in the same moment. */
        private void answered() {
            if (++answered == members.size()) {
                world.at(world.now(), () -> {
                    if (!failed) {
                        oracle.tried(members, began, winners);
                    }
                    allAnswered.tryEmitEmpty();
                });
            }
        }

        private void leaves() {
            if (++left == members.size()) {
                meeting = false;
                meetIn(failed ? REST + 2 * plan.lease().toNanos() : REST);
            }
        }
    }
}
