package io.github.reactivelock.faults;

import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One read of a shared counter and, some time later, the write. A cancel that meets the write waits for its end. */
final class Increment {

    private static final Duration LOOK = Duration.ofMillis(200);
    private static final int READ = 0;
    private static final int WRITING = 1;
    private static final int OVER = 2;

    private final SharedNumbers numbers;
    private final int slot;
    private final LockHandle held;
    private final AtomicInteger state = new AtomicInteger(READ);

    private Increment(SharedNumbers numbers, int slot, LockHandle held) {
        this.numbers = numbers;
        this.slot = slot;
        this.held = held;
    }

    /** Takes this long; it looks at its hold now and then, and writes only if it is still one. */
    static Mono<Void> of(SharedNumbers numbers, int slot, LockHandle held, Duration time) {
        return Mono.defer(() -> {
            Increment increment = new Increment(numbers, slot, held);
            long read = numbers.value(slot);
            return passing(held, time)
                    .then(Mono.<Void>fromRunnable(() -> increment.write(read + 1)))
                    .doOnCancel(increment::leave);
        });
    }

    /** Takes this long, or until a look says that the hold is over. */
    static Mono<Void> passing(LockHandle held, Duration time) {
        if (time.compareTo(LOOK) < 0) {
            return time.isZero() ? Mono.empty() : Mono.delay(time).then();
        }
        return Flux.interval(LOOK)
                .take(time.dividedBy(LOOK))
                .takeWhile(tick -> held.isHeld())
                .then();
    }

    private void write(long value) {
        if (state.compareAndSet(READ, WRITING)) {
            if (!held.remaining().isZero()) {
                numbers.write(slot, value);
            }
            state.set(OVER);
        }
    }

    private void leave() {
        state.compareAndSet(READ, OVER);
        while (state.get() == WRITING) {
            Thread.onSpinWait();
        }
    }
}
