package io.github.reactivelock.simulation;

import io.github.reactivelock.spi.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Judges what clients keep for their next flow, by the rules of {@code docs/design/retention.md} that break no lock:
 * a recall names a claim that can be called back, and no other claim is called back by it; a key that was called back
 * is not kept before it was taken twice without that; no more locks are kept than a client may keep; and none goes to
 * a flow while the client knows that it does not hear its store, after it heard that the lock was ended by force, or
 * long after one began to wait for its release.
 */
final class KeptLocks {

    /** A thread that has something to tell, or a flow that has its lock, may be as late as that. */
    private static final long SOON = 10_000_000;

    /** Most threads are not even that late. */
    private static final long AT_ONCE = 100_000;

    private static final int TAKEN = 2;

    /** A wait for a release, to the store and back three times: the watch, the recall, the release. */
    private static final int WAYS = 6;
    /** What timers and threads add to that. */
    private static final long DELAYS = 100_000_000;

    private final World world;
    private final Plan plan;
    private final Consumer<String> wrong;
    /** By claim: the token with which a flow has had the lock. */
    private final Map<String, Long> had = new HashMap<>();
    /** By claim: what ended by force while no flow had it, and when its client heard of that. */
    private final Map<String, Ended> ended = new HashMap<>();

    private record Ended(long token, long heard) {}

    /** By id: what clients asked for that can be called back. */
    private final Map<String, Asked> asked = new HashMap<>();
    /** By key: those who wait for a release. */
    private final Map<String, List<Awaiting>> awaiting = new HashMap<>();

    private long brokenUntil;

    /** A claim that can be called back. */
    private static final class Asked {
        private final String client;
        private final String key;
        private boolean isGivenBack;
        private int grants;
        private long grantHeard;
        /** When a recall came last before it was given back. */
        private long calledAt;

        /** How often its client said so: once of each grant, and what was granted too late is granted again. */
        private int told;

        Asked(Claim claim) {
            this.client = claim.id().substring(0, claim.id().lastIndexOf('.'));
            this.key = claim.key();
        }

        boolean isOf(String name, String wanted) {
            return client.equals(name) && key.equals(wanted);
        }

        boolean mayBeTold() {
            return calledAt > 0 && told < grants;
        }
    }

    private record Awaiting(Machine machine, long since) {}

    /** A key of a client, and how often flows took it since it was called back. */
    private static final class CalledBack {
        private final long since;
        private int taken;

        CalledBack(long since) {
            this.since = since;
        }
    }

    KeptLocks(World world, Plan plan, Consumer<String> wrong) {
        this.world = world;
        this.plan = plan;
        this.wrong = wrong;
    }

    private boolean isPrompt(Machine machine) {
        return plan.standstill() == 0 && machine.hinderedUntil() < world.now() - SOON;
    }

    /** A client asks for what can be called back. */
    void claims(Claim claim) {
        if (!plan.retains()) {
            wrong.accept("claim " + claim.id() + " says that it can be called back, and no flow keeps locks");
        }
        asked.computeIfAbsent(claim.id(), id -> new Asked(claim));
    }

    /** A client is about to hear that a claim of it is granted. */
    void grants(String claim) {
        Asked granted = asked.get(claim);
        if (granted != null) {
            granted.grants++;
            granted.grantHeard = world.now();
        }
    }

    /** A client is about to hear a recall. */
    void calls(String claim) {
        Asked named = asked.get(claim);
        if (named == null) {
            wrong.accept("a recall names claim " + claim + ", which cannot be called back");
        } else if (!named.isGivenBack) {
            named.calledAt = world.now();
        }
    }

    /** A client gives a claim back; that it was called back may still be said. */
    void givesBack(String claim) {
        Asked given = asked.get(claim);
        if (given != null) {
            given.isGivenBack = true;
        }
    }

    /** A flow of no lock waits for a release until this is run. */
    Runnable awaits(Machine machine, String key) {
        Awaiting begun = new Awaiting(machine, world.now());
        List<Awaiting> all = awaiting.computeIfAbsent(key, unused -> new ArrayList<>());
        all.add(begun);
        return () -> all.remove(begun);
    }

    /** Something broke, and what it broke may be whole again a moment after that. */
    void broke(long until) {
        brokenUntil = Math.max(brokenUntil, until + 2 * DELAYS);
    }

    /** Who has waited for so long that what it calls for has come back, unless something broke meanwhile. */
    private @Nullable Awaiting overdue(Machine owner, String key) {
        long way = plan.manner().latency() * 5 / 2 + plan.manner().latest();
        long latest = world.now() - WAYS * way - DELAYS;
        return awaiting.getOrDefault(key, List.of()).stream()
                .filter(wait -> wait.since < latest
                        && brokenUntil < wait.since
                        && wait.machine.hinderedUntil() < wait.since
                        && owner.hinderedUntil() < wait.since)
                .findFirst()
                .orElse(null);
    }

    /** A flow begins that has waited for no other lock since it got this one. */
    void begins(Holding begun) {
        String claim = begun.claim();
        Ended end = ended.get(claim);
        if (end != null
                && begun.isHeld()
                && end.token == begun.granted()
                && end.heard < world.now() - SOON
                && isPrompt(begun.machine)) {
            wrong.accept(begun + " begins, and was ended by force while it was kept");
        }
        had.put(claim, begun.granted());
    }

    /** The push of an end by force has reached the client of a claim. */
    void forced(String claim, boolean isInside) {
        Long token = had.get(claim);
        if (token != null && !isInside && asked.containsKey(claim)) {
            ended.putIfAbsent(claim, new Ended(token, world.now()));
        }
    }

    /** One client. */
    final class Client {

        private final Machine machine;
        private final String name;
        private final LongSupplier unheardFor;
        /** Keys that were called back. */
        private final Map<String, CalledBack> calledBack = new HashMap<>();
        /** By key: the token of the flow that has it, or had it last. */
        private final Map<String, Long> newest = new HashMap<>();
        /** By key that no flow has: since when. */
        private final Map<String, Long> idleSince = new HashMap<>();

        private String lastHit = "";
        private long lastHitAt;

        /**
         * @param name with which the ids of its claims begin
         * @param unheardFor for how many nanoseconds the client has known that it does not hear its store
         */
        Client(Machine machine, String name, LongSupplier unheardFor) {
            this.machine = machine;
            this.name = name;
            this.unheardFor = unheardFor;
        }

        void recalled(String key) {
            calledBack.remove(key);
            Asked claim = asked.values().stream()
                    .filter(each -> each.isOf(name, key) && each.mayBeTold())
                    .max(Comparator.comparingLong(each -> each.calledAt))
                    .orElse(null);
            if (claim == null) {
                wrong.accept(
                        "'" + key + "' was called back on " + machine.name + ", and no recall named its claim of it");
                return;
            }
            if (claim.calledAt > world.now() - AT_ONCE) { // else it may have been taken before this was told
                calledBack.put(key, new CalledBack(world.now()));
            }
            claim.told++;
        }

        /** When it heard of the grant under which it has the lock. */
        private long grantHeard(String key) {
            return asked.values().stream()
                    .filter(each -> each.isOf(name, key))
                    .mapToLong(each -> each.grantHeard)
                    .max()
                    .orElse(0);
        }

        void taken(String key, long token) {
            newest.put(key, token);
            idleSince.remove(key);
            CalledBack before = calledBack.get(key);
            if (before != null) {
                before.taken++;
            }
        }

        void released(String key, long token) {
            if (newest.getOrDefault(key, token) == token) {
                idleSince.put(key, world.now());
            }
        }

        void hit(String key) {
            CalledBack before = calledBack.remove(key);
            if (before != null
                    && before.taken < TAKEN
                    && before.since < world.now() - SOON // else the flow may have had it before, and told this later
                    && isPrompt(machine)
                    && !plan.keepsOneLock()) {
                wrong.accept("'" + key + "' was kept on " + machine.name + ", and taken " + before.taken
                        + " times since it was called back");
            }
            if (isPrompt(machine) && unheardFor.getAsLong() > SOON) {
                wrong.accept("'" + key + "' went to a flow of " + machine.name
                        + ", which has kept it and has not heard its store for " + unheardFor.getAsLong() / 1_000
                        + " us");
            }
            Awaiting overdue = overdue(machine, key);
            if (isPrompt(machine) && overdue != null && grantHeard(key) < overdue.since) {
                wrong.accept("'" + key + "' went to a flow of " + machine.name + ", which has kept it, though "
                        + overdue.machine.name + " has waited for its release for "
                        + (world.now() - overdue.since) / 1_000_000 + " ms");
            }
            long since = idleSince.getOrDefault(key, world.now());
            if (plan.keepsOneLock()
                    && isPrompt(machine)
                    && !lastHit.equals(key)
                    && lastHitAt > since + SOON
                    && lastHitAt < world.now() - SOON) {
                wrong.accept("'" + key + "' was kept on " + machine.name + " beside '" + lastHit
                        + "', where one is kept at most");
            }
            lastHit = key;
            lastHitAt = world.now();
        }
    }
}
