package io.github.reactivelock.simulation;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.engine.user.Mailbox;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * The mailbox under Lincheck, which interleaves two threads step by step: each event is handled once, none beside
 * another, and none is left.
 */
class MailboxModelTest {

    @Test
    void eachEventIsHandledOnceAndAlone() {
        assertThatCode(() -> check(Ours.class)).doesNotThrowAnyException();
    }

    @Test
    void aMailboxThatForgetsALateEventIsFound() {
        assertThatThrownBy(() -> check(Forgetful.class)).hasMessageContaining("an event is left");
    }

    @Test
    void aMailboxThatHandlesTwoAtOnceIsFound() {
        assertThatThrownBy(() -> check(Hasty.class)).hasMessageContaining("two events at once");
    }

    @SuppressWarnings("deprecation") // The way its guide shows for Java.
    private static void check(Class<?> model) {
        org.jetbrains.kotlinx.lincheck.LinChecker.check(
                model,
                new ModelCheckingOptions()
                        .iterations(10)
                        .invocationsPerIteration(300)
                        .threads(2)
                        .actorsPerThread(2)
                        .actorsBefore(0)
                        .actorsAfter(0)
                        .minimizeFailedScenario(false));
    }

    /** The engine's. */
    public static final class Ours extends Model {

        /** For Lincheck. */
        public Ours() {
            Mailbox mailbox = new Mailbox("k") {
                @Override
                public void goOnElsewhere(Runnable rest) {
                    rest.run();
                }
            };
            post = event -> mailbox.post(event::run);
        }
    }

    /** It is busy for a moment after it has looked for the last time. */
    public static final class Forgetful extends Model {

        /** For Lincheck. */
        public Forgetful() {
            AtomicBoolean busy = new AtomicBoolean();
            Queue<Runnable> left = new ConcurrentLinkedQueue<>();
            post = event -> {
                left.add(event);
                if (busy.compareAndSet(false, true)) {
                    for (Runnable next = left.poll(); next != null; next = left.poll()) {
                        next.run();
                    }
                    busy.set(false);
                }
            };
        }
    }

    /** It looks whether it is busy, and then says so. */
    public static final class Hasty extends Model {

        /** For Lincheck. */
        public Hasty() {
            AtomicBoolean busy = new AtomicBoolean();
            post = event -> {
                while (busy.get()) {
                    Thread.onSpinWait();
                }
                busy.set(true);
                event.run();
                busy.set(false);
            };
        }
    }

    /** Operations return nothing: what came of them is asked at the end. */
    public abstract static class Model {

        Consumer<Runnable> post = Runnable::run;
        private final AtomicInteger posted = new AtomicInteger();
        private final AtomicInteger handled = new AtomicInteger();
        private final AtomicBoolean inside = new AtomicBoolean();
        private volatile boolean met;

        @Operation
        public void post() {
            posted.incrementAndGet();
            post.accept(() -> {
                if (!inside.compareAndSet(false, true)) {
                    met = true;
                }
                handled.incrementAndGet();
                inside.set(false);
            });
        }

        @Validate
        public void nothingIsLeft() {
            if (met) {
                throw new IllegalStateException("two events at once");
            }
            if (handled.get() != posted.get()) {
                throw new IllegalStateException("an event is left, or was handled twice");
            }
        }
    }
}
