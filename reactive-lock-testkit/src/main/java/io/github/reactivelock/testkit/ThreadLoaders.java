package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import java.io.File;
import java.lang.reflect.Constructor;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Checks the context class loaders of threads that start while a thread without a loader, or with a foreign one, uses a
 * backend. A loader of its own loads the library, its drivers and Reactor anew: so no thread is shared with other
 * tests, and nothing that a driver finds only by the right loader is loaded already.
 */
public final class ThreadLoaders {

    /**
     * Threads of the JVM, of a server inside the process, and Netty's global one, which Netty itself leaves without a
     * loader.
     */
    private static final List<String> OTHERS = List.of(
            "globalEventExecutor",
            "ForkJoinPool.commonPool",
            "process reaper",
            "Cleaner",
            "NIOWorkerThread",
            "stall-watch");

    private static final long OPENINGS = 100;

    private ThreadLoaders() {}

    /**
     * Opens, uses and closes a backend, and asserts that it works and that no new thread has another context class
     * loader than the library's.
     *
     * @param opener makes the backend; it has a constructor without parameters, and sees nothing of the test
     *     but its argument
     * @param address the opener's argument
     */
    public static void assertOwn(Class<? extends Function<String, LockBackend>> opener, String address) {
        assertOwn(opener, address, null);
        assertOwn(opener, address, new URLClassLoader("foreign", new URL[0], null));
    }

    private static void assertOwn(Class<?> opener, String address, @Nullable ClassLoader callers) {
        ClassLoader library = new URLClassLoader("library", classPath(), ClassLoader.getPlatformClassLoader());
        FutureTask<@Nullable Void> use = new FutureTask<>(() -> {
            library.loadClass(ThreadLoaders.class.getName())
                    .getMethod("use", String.class, String.class)
                    .invoke(null, opener.getName(), address);
            return null;
        });
        Thread caller = new Thread(use, "caller");
        caller.setContextClassLoader(callers);
        caller.start();
        try {
            use.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError("called by a thread with the context class loader " + callers, e);
        }
    }

    private static URL[] classPath() {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            try {
                urls.add(new File(entry).toURI().toURL());
            } catch (MalformedURLException e) {
                throw new AssertionError(entry, e);
            }
        }
        return urls.toArray(URL[]::new);
    }

    /**
     * Runs in the library that was loaded anew.
     *
     * @param opener the name of the class that makes the backend
     * @param address its argument
     * @throws ReflectiveOperationException if there is no such class
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public static void use(String opener, String address) throws ReflectiveOperationException {
        Set<Thread> known = Thread.getAllStackTraces().keySet();
        Set<Thread> callers = ConcurrentHashMap.newKeySet();
        Constructor<? extends Function> constructor =
                Class.forName(opener).asSubclass(Function.class).getDeclaredConstructor();
        constructor.setAccessible(true);
        Function<String, LockBackend> open = constructor.newInstance();
        LockBackend backend = open.apply(address);
        Set<Signal> signals = ConcurrentHashMap.newKeySet();
        // As the engine does: a driver whose classes are loaded anew may not open in time on a busy machine.
        Disposable listening = backend.signals().retry(OPENINGS).subscribe(signals::add);
        Await.until("signals come", () -> signals.contains(new Signal.Reconnected()));
        Claim first = claim();
        Claim second = claim();

        assertThat(answer(backend.claim(first), callers)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answer(backend.claim(second), callers)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(answer(backend.renew(List.of(first)), callers)).isNotNull();
        assertThat(answer(backend.release(first), callers)).isTrue();
        Await.until(
                "the next one is served",
                () -> signals.stream().anyMatch(signal -> !(signal instanceof Signal.Reconnected)));
        assertThat(answer(backend.claim(second), callers)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answer(backend.release(second), callers)).isTrue();
        assertLoaders(known, callers);

        listening.dispose();
        Mono<Boolean> closed = backend.close().thenReturn(true);
        assertThat(answer(closed, callers)).isTrue();
        assertLoaders(known, callers);
    }

    private static Claim claim() {
        return new Claim(
                "key of loaders",
                UUID.randomUUID().toString(),
                "owner",
                Duration.ofMinutes(1),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED);
    }

    /** Remembers the thread that brings the answer, because its next task can make a thread. */
    private static <T> T answer(Mono<T> question, Set<Thread> callers) {
        return Await.get(question.doOnSuccess(answer -> callers.add(Thread.currentThread())));
    }

    /**
     * A server inside the process keeps making threads, with the loader of the tests, which nothing here can inherit.
     */
    private static boolean isOfOthers(Thread thread) {
        return OTHERS.stream().anyMatch(thread.getName()::contains)
                || thread.getContextClassLoader() == ClassLoader.getSystemClassLoader();
    }

    private static void assertLoaders(Set<Thread> known, Set<Thread> callers) {
        Set<Thread> made = ConcurrentHashMap.newKeySet();
        made.addAll(Thread.getAllStackTraces().keySet());
        made.removeAll(known);
        made.addAll(callers);
        made.remove(Thread.currentThread());
        made.removeIf(thread -> isOfOthers(thread) && !callers.contains(thread));
        assertThat(made)
                .allSatisfy(thread -> assertThat(thread.getContextClassLoader())
                        .as(thread.getName())
                        .isSameAs(ThreadLoaders.class.getClassLoader()));
    }
}
