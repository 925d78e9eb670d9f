package io.github.reactivelock.shedlock;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.Pause;
import java.time.Duration;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** ShedLock's own tests of a provider, its fuzz test among them. */
abstract class ShedLockContract extends AbstractExtensibleLockProviderIntegrationTest {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private LockClient client;

    abstract LockBackend backend();

    @BeforeEach
    void open() {
        client = LockClient.create(backend());
    }

    @AfterEach
    void close() {
        client.close().block(PATIENCE);
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return new ReactiveLockProvider(client);
    }

    @Override
    protected void assertLocked(String name) {
        Pause.until(name + " is locked", () -> isLocked(name));
    }

    @Override
    protected void assertUnlocked(String name) {
        Pause.until(name + " is unlocked", () -> !isLocked(name));
    }

    private boolean isLocked(String name) {
        return client.inspect(name).block(PATIENCE) instanceof LockInfo.Held;
    }
}
