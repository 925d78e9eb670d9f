package io.github.reactivelock.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.BrokenBackend;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is logged of a store says which one. */
class StoreNameTest {

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.reactivelock");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
    }

    @Test
    void aStoreThatDoesNotCloseCleanlyIsNamed() {
        BrokenBackend broken = new BrokenBackend();
        LockClient client = LockClient.create(broken);

        assertThat(client.close().blockOptional()).isEmpty();

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains("the lock store " + broken + " did not close cleanly");
    }

    @Test
    void theStoreOfThisModuleSaysWhichItIs() {
        assertThat(InMemoryLockBackend.create()).hasToString("memory of this process");
    }
}
