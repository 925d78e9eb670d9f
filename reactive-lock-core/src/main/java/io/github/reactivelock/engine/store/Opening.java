package io.github.reactivelock.engine.store;

import java.time.Duration;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * How a connection to the store is opened, for what waits at the {@link Gate}. All fields that are not volatile are
 * touched only inside the gate's events.
 *
 * <pre>
 * state     leaves on
 * OPEN      something is to leave and the backend is not ready -> OPENING (asks the backend to be)
 * OPENING   ready -> OPEN, and all leave that may; failure -> PAUSING, and all fail with it; ten seconds -> PAUSING
 * PAUSING   a moment later, if something is to leave by then -> OPENING, else OPEN
 * </pre>
 */
public final class Opening {

    /** How long the first connection may take; drivers give it as much. */
    static final Duration LONGEST = Duration.ofSeconds(10);

    private static final long PAUSE = Duration.ofMillis(100).toNanos();

    private enum State {
        OPEN,
        OPENING,
        PAUSING
    }

    private final Gate gate;
    private State state = State.OPEN;
    /** There was a connection at some time. */
    volatile boolean wasOpen;
    /** The store has answered at some time. */
    public volatile boolean wasAnswered;
    /** Who waits for the first answer, in the order in which they came. */
    private final NavigableMap<Long, Runnable> first = new ConcurrentSkipListMap<>();

    private final AtomicLong numbers = new AtomicLong();

    Opening(Gate gate) {
        this.gate = gate;
    }

    /** There is a connection, perhaps the first. */
    void open() {
        wasOpen = true;
    }

    /** The store has answered a claim, perhaps for the first time, and what comes of the answer is under way. */
    public void answered() {
        if (!wasAnswered) {
            open();
            wasAnswered = true;
            first.keySet().forEach(this::runOnce);
        }
    }

    /** Runs a task once the store has answered, on whichever thread finds that out, unless it is taken back before. */
    public Disposable whenAnswered(Runnable task) {
        long number = numbers.getAndIncrement();
        first.put(number, task);
        if (wasAnswered) {
            runOnce(number);
        }
        return () -> first.remove(number);
    }

    private void runOnce(long number) {
        Runnable task = first.remove(number);
        if (task != null) {
            task.run();
        }
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    void begin() {
        state = State.OPENING;
        gate.ask(new StoreAnswer<Boolean>() {
            @Override
            public Gate gate() {
                return gate;
            }

            @Override
            public Mono<Boolean> question() {
                Mono<Boolean> ready = gate.backend.ready().thenReturn(true);
                return gate.timing.silenceClock.timeout(ready, LONGEST, Mono.just(false)); // it may be lost for good
            }

            @Override
            public void answered(Boolean ready) {
                gate.post(Opening.this::opened);
            }

            @Override
            public void failed(Throwable failure) {
                gate.post(() -> Opening.this.failed(failure));
            }
        });
    }

    private void opened() {
        if (gate.backend.isReady()) {
            state = State.OPEN;
            gate.opened();
        } else { // interrupted already, or not open for so long that another try may do better
            pause();
        }
    }

    private void failed(Throwable failure) {
        if (gate.backend.isReady()) { // by another question than ours
            opened();
            return;
        }
        gate.refuseAll(failure);
        pause();
    }

    /** What comes meanwhile waits for the next try. */
    private void pause() {
        state = State.PAUSING;
        gate.timing.after(PAUSE, () -> gate.post(this::tryAgain));
    }

    private void tryAgain() {
        state = State.OPEN;
        gate.goOnIfWanted();
    }

    // ---- who waits for it

    /** For questions that are no claims and no releases, which wait by themselves. */
    public Mono<Void> connected() {
        long longest = longestWait(gate.timing.commandTimeout);
        return gate.timing.answeredIn(Duration.ofNanos(longest), gate.backend.ready(), () -> unconnected(longest));
    }

    long longestWait(long bearable) {
        return wasOpen ? bearable : Math.max(bearable, LONGEST.toNanos());
    }

    TimeoutException unconnected(long nanos) {
        return new TimeoutException("there was no connection to the store for " + TimeUnit.NANOSECONDS.toMillis(nanos)
                + " ms: " + gate.whySilent());
    }
}
