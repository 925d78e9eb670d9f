package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What the flows of the members do: one thing after the other, each what chance makes it, until they are told to end. */
final class Flows {

    private static final long LONGEST_REST = 300_000_000;

    /** Of work that blocks its thread when it is cancelled. */
    private static final double BLOCKING_SHARE = 0.3;

    /** Of flows where some share. */
    private static final double READERS = 0.6;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final SplittableRandom random;
    private final LockOptions options;
    private boolean ending;
    private int under;

    Flows(World world, Plan plan, Oracle oracle) {
        this.world = world;
        this.plan = plan;
        this.oracle = oracle;
        this.random = world.random();
        this.options = LockOptions.defaults().withLease(plan.lease());
    }

    /** No flow begins anything any more. */
    void end() {
        ending = true;
    }

    /** How many are under way. */
    int under() {
        return under;
    }

    void begin(Member member) {
        for (int flow = 0; flow < plan.flows(); flow++) {
            rest(member);
        }
    }

    private void rest(Member member) {
        long rest = random.nextInt(3) == 0 ? world.shortTime(LONGEST_REST) : world.shortTime(100_000);
        member.machine.later(rest, null, () -> {
            if (!ending) {
                act(member);
            }
        });
    }

    private void act(Member member) {
        Flow flow = new Flow(member);
        under++;
        Disposable acting = flow.action()
                .doFinally(signal -> {
                    flow.over();
                    under--;
                    rest(member);
                })
                .subscribe(nothing -> {}, failure -> {
                    if (plan.faults().isEmpty()
                            && plan.manner().immediate()
                            && failure instanceof LockUnavailableException) {
                        oracle.leak("a store that answers at once is unavailable: " + failure);
                    }
                    if (world.isLogged()) {
                        world.log(member.machine.name, "failed: " + failure);
                    }
                });
        if (world.chance(0.15)) {
            member.machine.later(world.shortTime(2 * plan.lease().toNanos()), null, acting::dispose);
        }
    }

    private String key() {
        return "lock-" + random.nextInt(plan.keys());
    }

    private Duration time(long most) {
        return Duration.ofNanos(1 + world.shortTime(most));
    }

    /** Of each kind, some more often than others. */
    private LockOptions options() {
        LockOptions chosen = options.withFairness(random.nextInt(3) == 0 ? Fairness.FIFO : Fairness.COHORT);
        if (world.chance(0.1)) {
            chosen = chosen.withoutRenewal();
        }
        if (world.chance(0.2) && !plan.manner().immediate()) {
            chosen = chosen.withWaitTimeout(time(3 * plan.lease().toNanos()));
        }
        if (world.chance(0.1)) {
            chosen = chosen.withMaxHold(time(2 * plan.lease().toNanos()).plusMillis(100));
        }
        chosen = world.chance(0.2) ? chosen.withReleaseInBackground() : chosen;
        return plan.keepsLocks() ? kept(chosen) : chosen;
    }

    /** No option contradicts another, and what joins a hold asks for the same. */
    private LockOptions kept(LockOptions chosen) {
        long lease = plan.lease().toNanos();
        LockOptions delayed =
                world.chance(0.5) ? chosen.withLockDelay(time(lease / 2).plusMillis(1)) : chosen;
        Duration least = time(lease).plusMillis(1);
        boolean fits = least.toNanos()
                < Math.min(lease, chosen.maxHold().map(Duration::toNanos).orElse(lease));
        return fits && world.chance(0.5) ? delayed.withMinHold(least) : delayed;
    }

    /** Some flows are readers; of those that want permits most want one, of the capacity that most name. */
    private LockClient sharing(LockClient client) {
        if (plan.shares()) {
            return world.chance(READERS) ? client.shared() : client;
        }
        if (!plan.hasPermits()) {
            return client;
        }
        if (world.chance(0.15)) {
            return world.chance(0.5) ? client.shared() : client;
        }
        List<Integer> capacities = plan.capacities();
        int capacity = capacities.get(random.nextInt(capacities.size()));
        return client.permits(world.chance(0.7) ? 1 : 1 + random.nextInt(capacity), capacity);
    }

    /** One acquisition, from its first word to its last. */
    private final class Flow {
        private final Member member;
        private final Machine machine;
        private final LockOptions options;
        private final LockClient client;
        private final List<String> waitsFor = new ArrayList<>();
        private final List<String> wantsTogether = new ArrayList<>();
        private @Nullable Holding begun;
        private @Nullable Candidacy candidacy;

        Flow(Member member) {
            this.member = member;
            this.machine = member.machine;
            LockOptions own = options();
            this.client = sharing(member.client().with(own));
            this.options = client.options();
        }

        Mono<Void> action() {
            if (plan.manner().immediate()) {
                return together(IntStream.range(0, plan.keys())
                        .mapToObj(i -> "lock-" + i)
                        .toList());
            }
            String key = key();
            if (plan.elects()) {
                candidacy = new Candidacy(world, plan, oracle, member, key);
                return candidacy.campaign();
            }
            int kind = random.nextInt(20);
            if (kind == 0) {
                return ifFree(key);
            }
            if (kind == 1 && plan.keys() > 1) {
                return together(List.of("lock-0", "lock-1"));
            }
            waitsFor.add(key);
            oracle.waits(key, options.share());
            if (kind < 6) {
                return client.acquire(key).flatMap(this::workAndRelease);
            }
            if (kind < 8) {
                return client.withLock(key, held -> inside(held, client.withLock(key, work(List.of(key)))));
            }
            return client.withLock(key, held -> inside(held, work(List.of(key))));
        }

        private Mono<Void> ifFree(String key) {
            return switch (random.nextInt(3)) {
                case 0 -> client.tryAcquire(key).flatMap(this::workAndRelease);
                case 1 -> client.tryWithLock(key, held -> inside(held, work(List.of(key))), Mono.empty());
                default ->
                    client.tryWithLock(
                            plan.keys() > 1 ? List.of("lock-0", "lock-1") : List.of(key), this::underAll, Mono.empty());
            };
        }

        private Mono<Void> together(List<String> keys) {
            wantsTogether.addAll(keys);
            keys.forEach(wanted -> oracle.mayHaveOutside(wanted, 1));
            return client.withLock(keys, this::underAll);
        }

        void over() {
            if (candidacy != null) {
                candidacy.over();
            }
            waitsFor.forEach(key -> oracle.waitsNoMore(key, options.share()));
            waitsFor.clear();
            wantsTogether.forEach(key -> oracle.mayHaveOutside(key, -1));
            wantsTogether.clear();
        }

        private Mono<Void> underAll(List<LockHandle> held) {
            return Mono.defer(() -> {
                oracle.acquired();
                List<Holding> holds = held.stream()
                        .map(handle -> oracle.begins(machine, handle, options))
                        .toList();
                return work(held.stream().map(LockHandle::key).toList())
                        .doFinally(signal -> holds.forEach(oracle::ends));
            });
        }

        /** While a cancel of it blocks it may end by itself; its locks are kept until the cancel has returned. */
        private Mono<Void> work(List<String> keys) {
            Mono<Void> work = Mono.delay(time(plan.work()), member.threads).then();
            long longest = Math.min(
                    2 * plan.lease().toNanos(), plan.busy().toNanos()); // meanwhile others do not hear of an end
            return world.chance(BLOCKING_SHARE)
                    ? work.doOnCancel(() -> {
                        keys.forEach(key -> oracle.mayHaveOutside(key, 1));
                        machine.block(world.shortTime(longest));
                        keys.forEach(key -> oracle.mayHaveOutside(key, -1));
                    })
                    : work;
        }

        private Mono<Void> inside(LockHandle held, Mono<Void> work) {
            return Mono.defer(() -> {
                if (waitsFor.remove(held.key())) {
                    oracle.waitsNoMore(held.key(), options.share());
                }
                oracle.acquired();
                Holding hold = oracle.begins(machine, held, options);
                begun = hold;
                if (plan.asksWhoIsCurrent()) {
                    machine.later(world.shortTime(2 * plan.work()), null, () -> ask(hold));
                }
                return work.doFinally(signal -> oracle.ends(hold));
            });
        }

        /** While it is held, or afterwards. */
        private void ask(Holding hold) {
            long asked = world.now();
            var unused = client.isCurrent(hold.key, hold.handle.fencingToken())
                    .subscribe(isCurrent -> oracle.promises.answered(hold, asked, isCurrent), failure -> {});
        }

        /** As one does who works with a handle: stops when the lock is lost, and releases whatever comes. */
        private Mono<Void> workAndRelease(LockHandle held) {
            return Mono.usingWhen(
                    Mono.just(held),
                    lock -> inside(lock, work(List.of(lock.key())).takeUntilOther(lock.lost())),
                    lock -> lock.release()
                            .doOnSuccess(done -> oracle.released(begun))
                            .onErrorComplete());
        }
    }
}
