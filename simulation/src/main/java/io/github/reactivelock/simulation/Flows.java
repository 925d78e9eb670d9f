package io.github.reactivelock.simulation;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * What the flows of the members do: one thing after the other, each what chance makes it, until the run ends.
 */
final class Flows {

    private static final long LONGEST_REST = 300_000_000;

    /** Share of work that blocks its thread when it is cancelled. */
    private static final double BLOCKING_SHARE = 0.3;

    /** Share of flows that share, where some do. */
    private static final double READERS = 0.6;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final SplittableRandom random;
    private final LockOptions options;
    private boolean ending;
    private int under;
    private int owners;

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
                    flow.failed(failure);
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

    private String key(Machine machine) {
        return plan.prefersOwnKeys() && world.chance(0.95) ? ownKey(machine) : anyKey();
    }

    private String anyKey() {
        return "lock-" + random.nextInt(plan.keys());
    }

    /** One of a machine, and another one that it wants seldom if there are as many again. */
    private String ownKey(Machine machine) {
        int first = Math.floorMod(machine.name.hashCode(), plan.machines());
        int second = first + plan.machines();
        return "lock-" + (second < plan.keys() && world.chance(0.1) ? second : first);
    }

    private Duration time(long most) {
        return Duration.ofNanos(1 + world.shortTime(most));
    }

    /** Draws a kind of flow, some more often than others. */
    private LockOptions options() {
        if (plan.prefersOwnKeys() && world.chance(0.97)) { // one that keeps nothing gives back what was kept for it
            return options;
        }
        List<Duration> leases = plan.leases();
        LockOptions chosen = options.withLease(leases.get(leases.size() == 1 ? 0 : random.nextInt(leases.size())))
                .withFairness(random.nextInt(3) == 0 ? Fairness.FIFO : Fairness.COHORT);
        if (world.chance(0.1)) {
            chosen = chosen.withoutRenewal();
        }
        if (world.chance(0.2) && !plan.manner().immediate()) {
            chosen = chosen.withWaitTimeout(time(3 * plan.lease().toNanos()));
        }
        if (world.chance(plan.endsHoldsEarly() ? 0.6 : 0.1)) {
            chosen = chosen.withMaxHold(time(2 * plan.lease().toNanos()).plusMillis(100));
        }
        chosen = world.chance(0.2) ? chosen.withReleaseInBackground() : chosen;
        return plan.keepsLocks() ? kept(chosen) : chosen;
    }

    /** What the client keeps for its next flow. */
    private LockClient retaining(LockClient client) {
        LockOptions chosen = client.options();
        boolean mayBeKept = chosen.share().isWhole()
                && chosen.isRenewed()
                && chosen.fairness() == Fairness.COHORT
                && chosen.minHold().isEmpty();
        return plan.retains() && mayBeKept && world.chance(plan.prefersOwnKeys() ? 1 : 0.5)
                ? client.with(chosen.withRetention(
                        time(chosen.lease().toNanos() - 2_000_000).plusMillis(1)))
                : client;
    }

    /** No option contradicts another, and what joins a hold asks for the same. */
    private LockOptions kept(LockOptions chosen) {
        long lease = chosen.lease().toNanos();
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
        /** Its latest hold of each key: keys are locked one inside the other. */
        private final Map<String, Holding> begun = new HashMap<>();

        private @Nullable Candidacy candidacy;
        private final long began = world.now();

        Flow(Member member) {
            this.member = member;
            this.machine = member.machine;
            LockOptions own = options();
            this.client = retaining(sharing(member.client().with(own)));
            this.options = client.options();
        }

        Mono<Void> action() {
            if (plan.manner().immediate()) {
                return together(IntStream.range(0, plan.keys())
                        .mapToObj(i -> "lock-" + i)
                        .toList());
            }
            String key = key(machine);
            if (plan.elects()) {
                candidacy = new Candidacy(world, plan, oracle, member, key);
                return candidacy.campaign();
            }
            int kind = random.nextInt(20);
            if (kind == 0) {
                return plan.awaitsReleases() && world.chance(0.5) ? released(anyKey()) : ifFree(key);
            }
            if (kind == 1 && plan.keys() > 1) {
                return together(List.of("lock-0", "lock-1"));
            }
            waitsFor.add(key);
            oracle.waits(key, options.share());
            if (kind < 6) {
                return client.acquire(key).flatMap(held -> workAndRelease(held, work(List.of(key))));
            }
            if (kind < 8) {
                return client.withLock(key, held -> inside(held, client.withLock(key, work(List.of(key)))));
            }
            if (kind == 8) {
                return byOwner(key);
            }
            if (kind == 9) {
                return client.acquire(key).flatMap(held -> workAndRelease(held, renewed(held)));
            }
            if (kind == 10 && key.equals("lock-0") && plan.keys() > 1) {
                return client.withLock(key, held -> inside(held, nested("lock-1")));
            }
            return client.withLock(key, held -> inside(held, work(List.of(key))));
        }

        /** Twice, by an owner that the Context names; the second one joins the hold of the first. */
        private Mono<Void> byOwner(String key) {
            Mono<Void> again = client.acquire(key)
                    .flatMap(inner -> Mono.usingWhen(
                            Mono.just(inner),
                            lock -> work(List.of(key)).takeUntilOther(lock.lost()),
                            lock -> judged(lock.key(), lock.release())));
            owners++;
            return client.acquire(key)
                    .flatMap(held -> workAndRelease(held, again))
                    .contextWrite(LockContext.owner(member.name() + Holding.OWNER + owners));
        }

        /** Work between which the lease is made to begin anew. */
        private Mono<Void> renewed(LockHandle held) {
            List<String> keys = List.of(held.key());
            return work(keys).then(judged(held.key(), held.renew())).then(work(keys));
        }

        /** Keys one inside the other, always in this order. */
        private Mono<Void> nested(String key) {
            return Mono.defer(() -> {
                waitsFor.add(key);
                oracle.waits(key, options.share());
                return client.withLock(key, held -> inside(held, work(List.of(key))));
            });
        }

        private Mono<Void> released(String key) {
            waitsFor.add(key);
            oracle.waits(key, options.share());
            Runnable noMore = oracle.kept.awaits(machine, key);
            return client.awaitRelease(key).doFinally(signal -> noMore.run());
        }

        private Mono<Void> ifFree(String key) {
            return switch (random.nextInt(3)) {
                case 0 -> client.tryAcquire(key).flatMap(held -> workAndRelease(held, work(List.of(key))));
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

        void failed(Throwable failure) {
            oracle.failed(machine, "lock-0", options, began, failure);
            Holding lost = failure instanceof LockLostException loss ? begun.get(loss.key()) : null;
            if (lost != null) {
                oracle.lost(lost, options, (LockLostException) failure);
            }
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
            long longest =
                    Math.min(2 * plan.lease().toNanos(), plan.busy().toNanos()); // meanwhile no end reaches the others
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
                oracle.kept.begins(hold);
                begun.put(hold.key, hold);
                if (plan.asksWhoIsCurrent()) {
                    machine.later(world.shortTime(2 * plan.work()), null, () -> ask(hold));
                }
                return work.doFinally(signal -> oracle.ends(hold));
            });
        }

        /** While it is held, or afterwards. */
        private void ask(Holding hold) {
            long asked = world.now();
            client.isCurrent(hold.key, hold.handle.fencingToken())
                    .subscribe(isCurrent -> oracle.promises.answered(hold, asked, isCurrent), failure -> {});
        }

        /** As an application that works with a handle: stops when the lock is lost, and releases in any case. */
        private Mono<Void> workAndRelease(LockHandle held, Mono<Void> work) {
            return Mono.usingWhen(
                    Mono.just(held),
                    lock -> inside(lock, work.takeUntilOther(lock.lost())),
                    lock -> judged(
                            lock.key(), lock.release().doOnSuccess(done -> oracle.released(begun.get(held.key())))));
        }

        /** A question of who has a lock: its failure is judged as that of a flow, which goes on. */
        private <T> Mono<T> judged(String key, Mono<T> question) {
            return Mono.defer(() -> {
                long asked = world.now();
                return question.doOnError(failure -> oracle.failed(machine, key, options, asked, failure))
                        .onErrorComplete();
            });
        }
    }
}
