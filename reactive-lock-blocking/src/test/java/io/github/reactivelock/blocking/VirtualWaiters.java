package io.github.reactivelock.blocking;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.testservers.Pause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A process of its own, on a JDK that has virtual threads: many wait for one lock, which another client has. It says
 * how many pinned their carrier and what a waiter takes of the heap.
 */
final class VirtualWaiters {

    static final int MANY = 10_000;
    /** What a waiter may take of the heap: a flow, a thread with its stack, its task, and two latches. */
    static final long MOST_BYTES = 8_192;

    private static final String KEY = "a";
    private static final String PINNED = "jdk.VirtualThreadPinned";

    private VirtualWaiters() {}

    /** Blocks below a frame of native code, which pins a thread on every JDK, so the recording is seen to work. */
    private static final class PinnedOnPurpose {
        static final boolean SLEPT = slept();

        private static boolean slept() {
            try {
                TimeUnit.MILLISECONDS.sleep(50);
                return true;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        LockClient holder = LockClient.builder(LettuceLockBackend.connect(args[0]))
                .commandTimeout(Fixture.PATIENCE)
                .options(LockOptions.defaults().withLease(Duration.ofMinutes(10)))
                .build();
        LockClient client = LockClient.builder(LettuceLockBackend.connect(args[0]))
                .commandTimeout(Fixture.PATIENCE)
                .build();

        // So that few classes are left to load, which pins the threads that meet there.
        threads()
                .submit(() -> BlockingLockClient.of(client).withLock("warm", held -> true))
                .get();
        try (Recording recording = new Recording()) {
            recording.enable(PINNED).withoutThreshold().withStackTrace();
            recording.start();
            threads().submit(() -> PinnedOnPurpose.SLEPT).get();
            int onPurpose = pinned(recording).size();
            blocking(holder, client);
            List<RecordedEvent> pinned = pinned(recording).stream()
                    .skip(onPurpose)
                    .filter(event -> !loadsClass(event))
                    .toList();
            System.out.println("pinned on purpose: " + onPurpose + ", pinned: " + pinned.size());
            pinned.stream().limit(3).forEach(System.out::println);
        }
        client.close().block(Fixture.PATIENCE);
        holder.close().block(Fixture.PATIENCE);
        System.exit(0);
    }

    private static void blocking(LockClient holder, LockClient client) throws Exception {
        BlockingLockClient locks = BlockingLockClient.of(client);
        LockHandle held = holder.acquire(KEY).block(Fixture.PATIENCE);
        AtomicInteger served = new AtomicInteger();
        Thread[] waiting = new Thread[MANY];
        List<Future<?>> all = new ArrayList<>(MANY);
        long before = used();
        ExecutorService threads = threads();
        for (int i = 0; i < MANY; i++) {
            int number = i;
            all.add(threads.submit(() -> {
                waiting[number] = Thread.currentThread();
                locks.withLock(KEY, served::incrementAndGet);
                return true;
            }));
        }
        Pause.until("all wait", Duration.ofMinutes(5), () -> Stream.of(waiting).allMatch(VirtualWaiters::waits));
        System.out.println("waiters: " + MANY + ", bytes a waiter: " + (used() - before) / MANY);
        held.release().block(Fixture.PATIENCE);
        for (Future<?> each : all) {
            each.get(5, TimeUnit.MINUTES);
        }
        System.out.println("served: " + served);
    }

    private static boolean waits(Thread thread) {
        return thread != null && thread.getState() == Thread.State.WAITING;
    }

    private static long used() {
        System.gc();
        System.gc(); // what the first one has found to be unreachable but for a cleaner
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** By its name, because this is compiled for JDK 17. */
    private static ExecutorService threads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    /** The JVM pins a thread while it loads or initializes a class, which happens once, and not because of a lock. */
    private static boolean loadsClass(RecordedEvent event) {
        boolean says = event.hasField("pinnedReason")
                && String.valueOf(event.getString("pinnedReason")).contains("class");
        return says
                || (event.getStackTrace() != null
                        && event.getStackTrace().getFrames().stream()
                                .map(frame -> frame.getMethod().getName())
                                .anyMatch(name -> name.equals("<clinit>") || name.equals("loadClass")));
    }

    private static List<RecordedEvent> pinned(Recording recording) throws IOException {
        Path file = Files.createTempFile("pinned", ".jfr");
        try {
            recording.dump(file);
            return RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(PINNED))
                    .toList();
        } finally {
            Files.delete(file);
        }
    }
}
