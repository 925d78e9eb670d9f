package io.github.reactivelock.simulation;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Judges what clients report of holds. A loss that comes of a store which does not confirm is at risk before, in time
 * unless the process was paused or its timers were late, and until the loss. Who asks for a hold's states hears no
 * other end than the listener, and in the end no subscriber still waits for one.
 *
 * <p>A loss that cannot be foreseen is one by an operator, by a store that lost its data or whose clock jumped, by the
 * longest hold, by the end of the client, one that is learned only at the release, and one of which the answer to a
 * claim tells.
 */
final class Risks {

    /** Share of a lease: a hold begins with a third of it at least, and ticks twelve times in a lease. */
    private static final int LEAST_LEFT = 6;

    /** One hold in so many is asked for its states. */
    private static final int WATCHED = 5;

    /** What is known of a hold. */
    private static final class Told {
        private HoldState.@Nullable AtRisk risk;
        private @Nullable LockHandle handle;
        private @Nullable Machine machine;
        private @Nullable String end;
        private long begun;
        private final List<String> heard = new ArrayList<>();
    }

    private final World world;
    private final Duration lease;
    private final LongPredicate wasCut;
    private final Predicate<LockHandle> wasTold;
    private final LongPredicate hasForgottenSince;
    private final Consumer<String> wrong;
    private final Map<String, Told> holds = new HashMap<>();
    /** Holds of other machines whose token was given again. */
    private final List<Told> earlier = new ArrayList<>();
    /** Holds that are at risk, by what was asked for. */
    private final Map<LockRequest, String> atRisk = new LinkedHashMap<>();

    /**
     * @param wasCut whether the grant with this token may have been ended by something else than its lease
     * @param wasTold whether the answer to a claim said that the grant is over
     * @param hasForgottenSince whether a store, or a node of a quorum, has lost its data since that time
     * @param wrong takes what went wrong
     */
    Risks(
            World world,
            Duration lease,
            LongPredicate wasCut,
            Predicate<LockHandle> wasTold,
            LongPredicate hasForgottenSince,
            Consumer<String> wrong) {
        this.world = world;
        this.lease = lease;
        this.wasCut = wasCut;
        this.wasTold = wasTold;
        this.hasForgottenSince = hasForgottenSince;
        this.wrong = wrong;
    }

    private Told told(String name) {
        return holds.computeIfAbsent(name, first -> new Told());
    }

    /** Readers of a quorum that were not in together may have had the same token. */
    private Told of(Machine machine, String name) {
        Told hold = told(name);
        if (hold.machine != null && hold.machine != machine) {
            earlier.add(hold);
            holds.remove(name);
            hold = told(name);
        }
        hold.machine = machine;
        return hold;
    }

    private static String name(String key, long token) {
        return "'" + key + "', token " + token;
    }

    /** Not all, because a client without a listener has other ways. */
    private static boolean hasListener(Machine machine) {
        return machine.name.hashCode() % 2 == 0;
    }

    /** A flow begins what the lock protects. */
    void begins(Machine machine, LockHandle handle) {
        boolean isWatched = handle.fencingToken() % WATCHED == 0;
        if (!isWatched && !hasListener(machine)) {
            return;
        }
        Told hold = of(machine, name(handle.key(), handle.fencingToken()));
        hold.handle = handle;
        hold.begun = world.now();
        if (isWatched && hold.heard.isEmpty()) {
            hold.heard.add("");
            handle.states()
                    .subscribe(
                            state -> hold.heard.add(state.getClass().getSimpleName()),
                            failure -> wrong.accept("the states of " + handle + " failed: " + failure),
                            () -> hold.heard.add("end"));
        }
    }

    /** What the clients of a machine tell; null if they have no listener. */
    @Nullable
    LockListener of(Machine machine, KeptLocks.Client kept) {
        return hasListener(machine) ? new Listener(machine, kept) : null;
    }

    private final class Listener implements LockListener {

        private final Machine machine;
        private final KeptLocks.Client kept;

        Listener(Machine machine, KeptLocks.Client kept) {
            this.machine = machine;
            this.kept = kept;
        }

        @Override
        public void recalled(String key) {
            kept.recalled(key);
        }

        @Override
        public void retentionHit(LockRequest request) {
            kept.hit(request.key());
        }

        @Override
        public void acquired(LockRequest request, long token, Duration waited) {
            kept.taken(request.key(), token);
        }

        @Override
        public void atRisk(LockRequest request, long token, HoldState.AtRisk risk) {
            String name = name(request.key(), token);
            told(name).risk = risk;
            if (atRisk.put(request, name) != null) {
                wrong.accept(name + " is at risk, and was already");
            }
        }

        @Override
        public void safeAgain(LockRequest request, long token) {
            String name = name(request.key(), token);
            told(name).risk = null;
            if (atRisk.remove(request) == null) {
                wrong.accept(name + " is safe again, and was not at risk");
            }
        }

        @Override
        public void released(LockRequest request, long token, Duration held) {
            kept.released(request.key(), token);
            ended(request, token, "released");
        }

        @Override
        public void releaseFailed(LockRequest request, LockUnavailableException failure) {
            atRisk.remove(request); // the token is not told, so the end is compared with nothing
        }

        @Override
        public void lost(LockRequest request, LockLostException loss) {
            judge(machine, loss, told(name(loss.key(), loss.fencingToken())));
            ended(request, loss.fencingToken(), "lost");
        }

        private void ended(LockRequest request, long token, String end) {
            String name = name(request.key(), token);
            atRisk.remove(request);
            told(name).end = end;
            if (told(name).heard.isEmpty()) {
                holds.remove(name);
            }
        }
    }

    private void judge(Machine machine, LockLostException loss, Told hold) {
        boolean isByLease = loss.reason() == LossReason.UNREACHABLE || loss.reason() == LossReason.EXPIRED;
        if (!isByLease || wasCut.test(loss.fencingToken()) || isLearnedFromTheStore(loss, hold)) {
            return;
        }
        HoldState.AtRisk risk = hold.risk;
        if (risk == null) {
            wrong.accept(loss.getMessage() + ", and was not at risk");
        } else if (machine.hinderedUntil() < world.now() - 2 * lease.toNanos()
                && risk.remaining().compareTo(lease.dividedBy(LEAST_LEFT)) < 0) {
            wrong.accept(loss.getMessage() + ", and was at risk only when " + risk.remaining() + " were left");
        }
    }

    /** Which has forgotten it, as far as the client can know. */
    private boolean isLearnedFromTheStore(LockLostException loss, Told hold) {
        LockHandle handle = hold.handle;
        return loss.reason() == LossReason.EXPIRED
                && (handle == null
                        || Simulated.isDisowned(handle)
                        || wasTold.test(handle)
                        || hasForgottenSince.test(hold.begun));
    }

    /** Everything has come to its end. */
    void end() {
        atRisk.values().forEach(name -> wrong.accept(name + " was at risk, and that had no end"));
        earlier.addAll(holds.values());
        earlier.forEach(this::judgeEnd);
    }

    private void judgeEnd(Told hold) {
        List<String> heard = hold.heard;
        if (heard.isEmpty()) {
            return;
        }
        String last = heard.get(heard.size() - 1);
        boolean isLost = heard.size() > 1 && heard.get(heard.size() - 2).equals("Lost");
        if (!last.equals("end")) {
            wrong.accept("the states of " + hold.handle + " have no end: " + heard);
        } else if (heard.size() > 2 && hold.end != null && isLost != hold.end.equals("lost")) {
            wrong.accept("the states of " + hold.handle + " are " + heard + ", and the listener heard " + hold.end);
        }
    }
}
