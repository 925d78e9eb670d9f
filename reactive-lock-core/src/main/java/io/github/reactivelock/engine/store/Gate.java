package io.github.reactivelock.engine.store;

import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What leaves for the store, and when. While there is no connection nothing leaves: questions wait here, where one that
 * is not wanted any more goes without a trace, and not in a driver, which would send all of them afterwards. While
 * there is one, only so many claims are unanswered at a time ({@link Window}), so that a question that left is soon
 * read, and its silence is the store's. A store that has answered nothing for a command timeout gets
 * {@link #MOST_IN_SILENCE} questions and then one now and then, until it answers. Renewals leave first, then releases,
 * then claims in the order in which they came.
 *
 * <p>Times are of the clock of silence. A mailbox of its own: everything is touched only inside its events, but for
 * what is volatile.
 */
public final class Gate extends Mailbox {

    /** A claim or a release that waits here. */
    public interface Question {
        /**
         * It is its turn. A claim says {@link Gate#gone} when it has left, or has found that it is not wanted any more.
         */
        void admitted();

        /** There is no connection, and none is being opened. */
        void refuse(Throwable failure);
    }

    /** Enough to notice that a store answers again, and few enough for it to deal with when it does. */
    public static final int MOST_IN_SILENCE = 128;

    private static final long PROBE_PAUSE = Duration.ofMillis(500).toNanos();

    /** One answer that came an hour late says little about the next one, which may be lost. */
    private static final long LONGEST_PATIENCE = Duration.ofMinutes(1).toNanos();

    final LockBackend backend;
    final Timing timing;
    private final Executor others;
    public final Window window;
    /** Renewals, which leave as soon as there is a connection. */
    private Runnable first = () -> {};

    private final Set<Question> releases = new LinkedHashSet<>();
    private final Set<Question> claims = new LinkedHashSet<>();
    public final Opening opening = new Opening(this);
    /** Counted before it is there and until it has left, so that no later question overtakes it. */
    private final AtomicInteger waiting = new AtomicInteger();

    private final AtomicInteger leftInSilence = new AtomicInteger();
    /** When the first of them left. */
    private volatile long silentSince;

    private volatile @Nullable Claim firstInSilence;

    private volatile long answeredAt;
    /** How long the last answer took. */
    private volatile long took;
    /** In silence, a question has left a moment ago. */
    private boolean probed;

    /** A question about this lock was found to be unanswered. */
    private record Unanswered(String key, long foundAt) {}

    private volatile @Nullable Unanswered unanswered;

    Gate(LockBackend backend, Timing timing, Executor others) {
        super("(any)");
        this.others = others;
        this.backend = backend;
        this.timing = timing;
        this.window = new Window(timing);
        this.answeredAt = timing.silentNow();
    }

    @Override
    public void goOnElsewhere(Runnable rest) {
        others.execute(rest);
    }

    /** Runs when a connection was opened, before the questions that wait here leave. */
    void letFirst(Runnable first) {
        this.first = first;
    }

    /** The one place where the engine subscribes for itself: to a question whose answer becomes an event. */
    public <T> void ask(StoreAnswer<T> asked) {
        asked.askedAt = timing.silentNow();
        try {
            asked.question().subscribe(asked);
        } catch (Throwable e) { // an Error too, a class that cannot be loaded, say: its caller would wait for ever
            asked.onError(e);
        }
    }

    // ---- claims

    /** True if a claim may leave now, and counts it; otherwise it is to be {@linkplain #add added}. */
    public boolean lets() {
        return isOpen() && window.lets();
    }

    public void add(Question claim) {
        add(claim, claims);
    }

    /** A claim whose turn came has left by now: those that come later may not stand behind it any more. */
    public void gone() {
        waiting.decrementAndGet();
    }

    /** A question that waits here is not wanted any more. */
    public void remove(Question unwanted) {
        post(() -> {
            if (claims.remove(unwanted) || releases.remove(unwanted)) {
                waiting.decrementAndGet();
            }
        });
    }

    /** No answer is waited for any more to a claim that left. */
    public void settled() {
        window.settled();
        if (waiting.get() > 0) {
            post(this::goOn);
        }
    }

    /**
     * Why what has waited here since a moment must not wait any longer, if so.
     *
     * @param bearable nanoseconds
     */
    @Nullable
    public TimeoutException standstill(long since, long bearable) {
        return standstill(since, bearable, timing.silentNow() - answeredAt);
    }

    /**
     * As {@link #standstill(long, long)}, for a claim that waits for its turn. Few claims leave where they are late, so
     * those behind them hear by themselves that none is answered, though releases may be.
     */
    @Nullable
    public TimeoutException claimsStandstill(long since, long bearable) {
        long now = timing.silentNow();
        long silent = now - window.answeredAt();
        boolean isLong = window.isNarrow() && silent >= Math.max(bearable, patience());
        return standstill(since, bearable, isLong ? silent : now - answeredAt);
    }

    private @Nullable TimeoutException standstill(long since, long bearable, long silent) {
        long waited = timing.silentNow() - since;
        boolean connected = backend.isReady();
        if (waited < (connected ? bearable : opening.longestWait(bearable))) {
            return null;
        } else if (!connected) {
            return opening.unconnected(waited);
        }
        return silent < bearable
                ? null
                : new TimeoutException("it waited in this process for " + millis(waited) + " ms, behind "
                        + window.unanswered() + " questions of which the store answered none for " + millis(silent)
                        + " ms: " + reasonSince(since));
    }

    /** There was no connection for so long. */
    public TimeoutException unconnected(long waited) {
        return opening.unconnected(waited);
    }

    /** The store did not answer a question in time that is about no lock. */
    public TimeoutException silence() {
        return timing.silence(timing.commandTimeout, whySilent());
    }

    /** The store did not answer a question about a lock in time. */
    public TimeoutException silence(String key) {
        return silence(key, timing.commandTimeout);
    }

    /** The store did not answer a question about a lock for so long. */
    public TimeoutException silence(String key, long patience) {
        unanswered = new Unanswered(key, timing.silentNow());
        return timing.silence(patience, whySilent(key));
    }

    /** Of what waits here: the server that keeps others from leaving need not be the one that keeps its own lock. */
    private String reasonSince(long since) {
        Unanswered known = unanswered;
        Claim first = firstInSilence;
        if (known != null && known.foundAt - since >= 0) {
            return whySilent(known.key);
        }
        return first == null ? whySilent() : whySilent(first.key());
    }

    /** As the store has it. */
    String whySilent() {
        return said(backend::whySilent);
    }

    /** As the store has it, of a lock. */
    public String whySilent(String key) {
        return said(() -> backend.whySilent(key));
    }

    /** A store of somebody else may fail to say it, and its callers wait for the error all the same. */
    private static String said(Supplier<String> asked) {
        try {
            return asked.get();
        } catch (Throwable e) {
            return "look whether it is up and reachable (it does not say where it is: " + e + ")";
        }
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    // ---- releases and renewals

    /** True if a release may leave now; otherwise it is to be {@linkplain #addRelease added}. */
    public boolean isOpen() {
        return waiting.get() == 0 && backend.isReady() && !isSilent();
    }

    /** A question leaves. */
    public void left(Claim about) {
        if (leftInSilence.getAndIncrement() == 0) {
            silentSince = timing.silentNow();
            firstInSilence = about;
        }
    }

    /** The store answered a question or refused to. */
    void heard(long askedAt) {
        long now = timing.silentNow();
        answeredAt = now;
        took = now - askedAt;
        if (leftInSilence.get() != 0) {
            opening.open();
            leftInSilence.set(0);
        }
        if (waiting.get() > 0) {
            post(this::goOn);
        }
    }

    /**
     * For how long an answer is waited for before the same is asked again, in nanoseconds. A store that is late has
     * much to do, and has been late before; asked everything again, it would never catch up.
     */
    public long patience() {
        return Math.max(timing.commandTimeout, Math.min(2 * took, LONGEST_PATIENCE));
    }

    /** As {@link #patience()}, if the lease depends on the answer: there is time to ask again before it ends. */
    public long patience(long lease) {
        return Math.min(patience(), lease / 3);
    }

    private boolean isSilent() {
        return leftInSilence.get() >= MOST_IN_SILENCE && timing.silentNow() - silentSince >= timing.commandTimeout;
    }

    public void addRelease(Question release) {
        add(release, releases);
    }

    private void add(Question question, Collection<Question> queue) {
        waiting.incrementAndGet();
        post(() -> {
            queue.add(question);
            goOn();
        });
    }

    /** True if renewals may leave now; otherwise they are sent as soon as there is a connection. */
    boolean letsRenewals() {
        boolean lets = backend.isReady();
        if (!lets) {
            post(this::goOn);
        }
        return lets;
    }

    // ---- what leaves when

    /** There is a connection. */
    void opened() {
        first.run();
        goOn();
    }

    void goOnIfWanted() {
        if (waiting.get() > 0) {
            goOn();
        }
    }

    private void goOn() {
        if (opening.isOpen() && backend.isReady()) {
            opening.open();
            letGo();
        } else if (opening.isOpen()) {
            opening.begin();
        }
    }

    private void letGo() {
        boolean more = true;
        while (more && !isSilent()) {
            more = letOneGo();
        }
        if (more && !probed && letOneGo()) {
            probed = true;
            timing.after(PROBE_PAUSE, () -> post(this::probeAgain));
        }
    }

    private void probeAgain() {
        probed = false;
        goOn();
    }

    private boolean letOneGo() {
        Question next = null;
        if (!releases.isEmpty()) {
            next = takeFirst(releases);
            waiting.decrementAndGet();
        } else if (!claims.isEmpty() && window.lets()) {
            next = takeFirst(claims);
        }
        if (next != null) {
            next.admitted();
        }
        return next != null;
    }

    private static Question takeFirst(Set<Question> queue) {
        Iterator<Question> questions = queue.iterator();
        Question first = questions.next();
        questions.remove();
        return first;
    }

    /** There is no connection, and none is being opened. */
    void refuseAll(Throwable failure) {
        List<Question> refused = new ArrayList<>(releases);
        refused.addAll(claims);
        releases.clear();
        claims.clear();
        waiting.addAndGet(-refused.size());
        refused.forEach(question -> question.refuse(failure));
    }
}
