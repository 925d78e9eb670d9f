package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.crac.CheckpointException;
import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * What {@code org.crac} may take a snapshot of. Its context is ours, because that of a JVM without CRaC calls nobody.
 */
class SnapshotsTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Checkpoints checkpoints = new Checkpoints();
    private final LockClient client;

    SnapshotsTest() {
        Snapshots.PARTICIPANTS.clear(); // clients of tests before this one, which need not be closed
        CracCheckpoints.register(checkpoints);
        client = LockClient.create(InMemoryLockBackend.create().connect());
    }

    @AfterEach
    void close() {
        checkpoints.afterRestore(checkpoints);
        client.close().block(LIMIT);
    }

    @Test
    void aClientThatWasNotUsedMayBeCopied() throws Exception {
        checkpoints.beforeCheckpoint(checkpoints);
        checkpoints.afterRestore(checkpoints);

        assertThat(client.withLock("k", handle -> Mono.just("work")).block(LIMIT))
                .isEqualTo("work");
    }

    @Test
    void aSnapshotIsRefusedWhileAKeyIsHeldAndSaysWhich() {
        LockHandle held = client.acquire("order:57").block(LIMIT);
        assertThat(held).isNotNull();

        assertThatThrownBy(() -> checkpoints.beforeCheckpoint(checkpoints))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("'order:57' is held or waited for")
                .hasMessageContaining("close it before the snapshot");
        held.release().block(LIMIT);
        assertThat(client.tryAcquire("order:57").block(LIMIT))
                .as("goes on after a refusal")
                .isNotNull();
    }

    @Test
    void aClientThatWasUsedIsRefusedUntilItIsClosed() throws Exception {
        assertThat(client.withLock("k", handle -> Mono.just("work")).block(LIMIT))
                .isEqualTo("work");
        assertThatThrownBy(() -> checkpoints.beforeCheckpoint(checkpoints)).hasMessageContaining("was used; close it");

        client.close().block(LIMIT);
        checkpoints.beforeCheckpoint(checkpoints);
    }

    @Test
    void aLookIsAUseToo() {
        LockInfo seen = client.inspect("k").block(LIMIT);
        assertThat(seen).isInstanceOf(LockInfo.Free.class);
        assertThatThrownBy(() -> checkpoints.beforeCheckpoint(checkpoints)).isInstanceOf(CheckpointException.class);
    }

    @Test
    void nothingBeginsWhileASnapshotIsTakenAndAllDoesAfterIt() throws Exception {
        checkpoints.beforeCheckpoint(checkpoints);
        assertThatThrownBy(() -> client.acquire("k").block(LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasStackTraceContaining("a snapshot of this process is being taken; try again after it");
        assertThatThrownBy(() -> client.inspect("k").block(LIMIT)).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> client.ready().block(LIMIT)).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> client.events("k").blockFirst(LIMIT)).isInstanceOf(LockUnavailableException.class);

        checkpoints.afterRestore(checkpoints);
        assertThat(client.acquire("k").block(LIMIT)).isNotNull();
    }

    @Test
    void aNameThatWasDrawnBeforeASnapshotIsDrawnAnewAfterIt() throws Exception {
        LateId id = new LateId();
        String before = id.get();
        checkpoints.beforeCheckpoint(checkpoints);
        assertThat(id.get()).isEqualTo(before);

        checkpoints.afterRestore(checkpoints);
        String after = id.get();
        checkpoints.afterRestore(checkpoints); // a second call is of no snapshot
        assertThat(after).isNotEqualTo(before).isEqualTo(id.get());
    }

    @Test
    void theContextOfAJvmWithoutCracIsHarmless() {
        CracCheckpoints.register();
        assertThat(Core.getGlobalContext()).isNotNull();
        assertThatThrownBy(Core::checkpointRestore).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void aClassPathWithoutOrgCracWorks() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator), -1)) {
            if (!entry.contains("crac-")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader without =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> without.loadClass("org.crac.Core")).isInstanceOf(ClassNotFoundException.class);
            Class<?> snapshots = Class.forName(Snapshots.class.getName(), true, without);
            snapshots.getMethod("begin").invoke(null);
            snapshots.getMethod("end").invoke(null);
            Object id =
                    without.loadClass(LateId.class.getName()).getConstructor().newInstance();
            assertThat(id.getClass().getMethod("get").invoke(id)).asString().hasSize(22);
        }
    }

    /** A context of {@code org.crac} that a test can drive: all are asked, and any may refuse. */
    private static final class Checkpoints extends Context<Resource> {

        private final List<Resource> resources = new ArrayList<>();

        @Override
        public void beforeCheckpoint(Context<? extends Resource> context) throws CheckpointException {
            for (Resource resource : resources) {
                try {
                    resource.beforeCheckpoint(this);
                } catch (CheckpointException refused) {
                    throw refused;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }

        @Override
        public void afterRestore(Context<? extends Resource> context) {
            for (Resource resource : resources) {
                try {
                    resource.afterRestore(this);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }

        @Override
        public void register(Resource resource) {
            resources.add(resource);
        }
    }
}
