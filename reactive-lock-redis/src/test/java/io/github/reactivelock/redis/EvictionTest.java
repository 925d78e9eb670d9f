package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class EvictionTest {

    private final FakeConnection connection = new FakeConnection();
    private final RedisLockBackend backend = new RedisLockBackend(connection, RedisBackendOptions.defaults()) {};
    private final Logger logger = (Logger) LoggerFactory.getLogger(Eviction.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(logged);
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "allkeys-random", "volatile-lru", "volatile-ttl"})
    void aServerThatMayDropLocksIsWarnedAboutOnceAClient(String policy) {
        connection.reply = Mono.just(List.of(policy, 1_000_000L));

        subscribeAndConfirm();
        subscribeAndConfirm();

        assertThat(logged.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .contains("fake:1", policy, "noeviction");
        assertThat(Collections.frequency(connection.asked, "memory")).isOne();
    }

    @ParameterizedTest
    @CsvSource({"noeviction,1000000", "allkeys-lru,0", "'',1"})
    void aServerThatKeepsKeysOrHasNoLimitIsNot(String policy, long limit) {
        connection.reply = Mono.just(List.of(policy, limit));

        subscribeAndConfirm();

        assertThat(logged.list).isEmpty();
    }

    @Test
    void aServerThatDoesNotSayIsNoMatter() {
        connection.reply = Mono.error(new IllegalStateException("NOPERM"));

        subscribeAndConfirm();

        assertThat(logged.list).isEmpty();
    }

    private void subscribeAndConfirm() {
        Disposable signals = backend.signals().subscribe();
        connection.listener.subscribed(connection.asked.stream()
                .filter(asked -> asked.startsWith("+"))
                .reduce((first, last) -> last)
                .orElseThrow()
                .substring(1));
        signals.dispose();
    }
}
