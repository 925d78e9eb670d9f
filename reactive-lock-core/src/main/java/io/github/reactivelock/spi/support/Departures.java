package io.github.reactivelock.spi.support;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/**
 * Which commands of a store leave for its server, and when. Only so many are unanswered at a time, the others wait in
 * a queue: one that is not wanted any more goes from there without a trace. One that has left counts until it is
 * answered, whether its asker still waits or not, because driver and server deal with it all the same. Of
 * {@value #TURNS} that leave, one is the one that has waited longest, of any rank, so none waits for ever behind
 * others. Safe for use from any thread.
 */
public final class Departures {

    /** Who leaves before whom. */
    public enum Rank {
        /** About holds: few, and they stand behind none. */
        HOLD,
        /** The end of a claim, which lets others in. */
        END,
        /** What is there. */
        LOOK,
        /** What makes new work: claims and their watches. */
        OTHER
    }

    /** Commands that may be unanswered, which a server takes from one client without delay for others. */
    public static final int MOST = 128;

    /** The oldest of all leaves once in so many times. */
    static final int TURNS = 8;

    private static final Logger log = LoggerFactory.getLogger(Departures.class);

    /** Each command with its number, which counts those that came. */
    private final Map<Rank, Map<Runnable, Long>> queues = new EnumMap<>(Rank.class);

    private final AtomicInteger steps = new AtomicInteger();
    private long came;
    private long left;
    private int unanswered;
    private volatile int most;
    private volatile int waiting;

    /** An empty queue, from which {@value #MOST} commands leave at a time. */
    public Departures() {
        this(MOST);
    }

    /**
     * An empty queue.
     *
     * @param most how many commands may be unanswered, such as the connections that there are
     */
    public Departures(int most) {
        this.most = most;
        for (Rank rank : Rank.values()) {
            queues.put(rank, new LinkedHashMap<>());
        }
    }

    /**
     * Puts work into the queue. Cold; what has left goes on after a cancel, and one that has not is withdrawn by it.
     *
     * @param rank of the command
     * @param work sends the command, and ends with its answer
     * @param <T> the answer's type
     * @return as the work
     */
    public <T> Mono<T> inTurn(Rank rank, Mono<T> work) {
        return Mono.<Signal<T>>create(sink -> {
                    Mono<Signal<T>> told = work.materialize().doOnNext(answer -> {
                        answered(rank);
                        sink.success(answer);
                    });
                    Runnable leaving = () -> {
                        FireAndForget.run("a command in its turn", told);
                    };
                    sink.onCancel(() -> withdraw(rank, leaving));
                    add(rank, leaving);
                })
                .dematerialize();
    }

    /**
     * Runs a command when it is its turn, perhaps at once; {@link #answered} has to follow.
     *
     * @param rank of the command
     * @param command must not block
     */
    public void add(Rank rank, Runnable command) {
        if (rank == Rank.HOLD) {
            command.run();
            return;
        }
        synchronized (this) {
            queue(rank).put(command, came++);
            waiting++;
        }
        letGo();
    }

    /**
     * Takes a command out of the queue, if it has not left.
     *
     * @param rank as when it was added
     * @param command the same
     */
    public synchronized void withdraw(Rank rank, Runnable command) {
        if (queue(rank).remove(command) != null) {
            waiting--;
        }
    }

    /**
     * Tells that one command that left is not under way any more.
     *
     * @param rank of that command
     */
    public void answered(Rank rank) {
        if (rank != Rank.HOLD) {
            synchronized (this) {
                unanswered--;
            }
            letGo();
        }
    }

    /**
     * Tells whether commands wait for their turn.
     *
     * @return true if there are more than may leave
     */
    public boolean isCrowded() {
        return waiting > 0;
    }

    /** All that wait here leave: there is no server any more, and each is to find that out. */
    public void letAllGo() {
        most = Integer.MAX_VALUE;
        letGo();
    }

    /** One at a time, because what leaves may be answered at once. */
    private void letGo() {
        int missed = 1;
        if (steps.getAndIncrement() != 0) {
            return;
        }
        while (missed != 0) {
            Runnable next = next();
            while (next != null) {
                begin(next);
                next = next();
            }
            missed = steps.addAndGet(-missed);
        }
    }

    /** One that cannot even begin is not under way, and the others do not wait for it. */
    private void begin(Runnable command) {
        try {
            command.run();
        } catch (Throwable e) {
            synchronized (this) {
                unanswered--;
            }
            log.error("a command could not be sent", e);
        }
    }

    private synchronized @Nullable Runnable next() {
        if (waiting == 0 || unanswered >= most) {
            return null;
        }
        Map<Runnable, Long> queue = queueWhoseTurnItIs();
        Runnable first = queue.keySet().iterator().next();
        queue.remove(first);
        waiting--;
        unanswered++;
        return first;
    }

    private Map<Runnable, Long> queueWhoseTurnItIs() {
        Stream<Map<Runnable, Long>> filled = queues.values().stream().filter(queue -> !queue.isEmpty());
        left++;
        return (left % TURNS == 0
                        ? filled.min(Comparator.comparingLong(
                                queue -> queue.values().iterator().next()))
                        : filled.findFirst())
                .orElseThrow();
    }

    private Map<Runnable, Long> queue(Rank rank) {
        return Objects.requireNonNull(queues.get(rank));
    }
}
