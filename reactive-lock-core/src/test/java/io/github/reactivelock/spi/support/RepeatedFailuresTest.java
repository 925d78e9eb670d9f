package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RepeatedFailuresTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Logger logger = (Logger) LoggerFactory.getLogger(LockClient.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final RepeatedFailures failures = new RepeatedFailures(logger, "a callback threw");

    @BeforeEach
    void listen() {
        logged.list = new CopyOnWriteArrayList<>();
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(logged);
    }

    private static RuntimeException failure(int number) {
        return new IllegalStateException("number " + number);
    }

    private List<String> stacks() {
        return logged.list.stream()
                .filter(line -> line.getThrowableProxy() != null)
                .map(line -> line.getThrowableProxy().getClassName())
                .toList();
    }

    @Test
    void theFirstHasItsStackAndTheOthersAreCounted() {
        IntStream.rangeClosed(1, 100).forEach(number -> failures.add(failure(number)));

        assertThat(stacks()).containsExactly(IllegalStateException.class.getName());
        assertThat(logged.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .hasSize(7)
                .element(6)
                .asString()
                .startsWith("a callback threw, 64 times so far: java.lang.IllegalStateException ")
                .contains("RepeatedFailuresTest.java");
    }

    @Test
    void anotherKindHasAStackOfItsOwn() {
        failures.add(failure(1));
        failures.add(new ArithmeticException("another class"));
        failures.add(new IllegalStateException("another place"));

        assertThat(stacks()).hasSize(3);
    }

    @Test
    void aListenerThatThrowsAtEveryCallDoesNotFillTheLog() {
        LockListener throwing = new LockListener() {
            @Override
            public void waiting(LockRequest request) {
                throw new AssertionError("at every call");
            }
        };
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .listener(throwing)
                .build();

        Flux.range(0, 100)
                .concatMap(i -> client.withLock("k", Mono.just(i)))
                .then()
                .block(LIMIT);
        client.close().block(LIMIT);

        assertThat(stacks()).containsExactly(AssertionError.class.getName());
        assertThat(logged.list)
                .hasSize(7)
                .allMatch(line -> line.getFormattedMessage().startsWith("a LockListener threw; it is ignored"));
    }
}
