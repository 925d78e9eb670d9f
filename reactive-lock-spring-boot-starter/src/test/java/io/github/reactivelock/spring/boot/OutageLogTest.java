package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import reactor.core.publisher.Mono;

/**
 * What the log has of requests that fail while their store is away: a line for each, and what drivers say of a
 * connection.
 */
class OutageLogTest {

    private static final int REQUESTS = 30;

    /**
     * Of everything that is logged once and not for each request: a connection that breaks. Attempts to make another
     * come to one more a second.
     */
    private static final int LINES_OF_AN_OUTAGE = REQUESTS / 2;

    /** The error, why, and by which handlers the request came. */
    private static final int LINES_OF_SPRING = 10;

    /** How the store goes away. */
    enum Outage {
        STOPPED {
            @Override
            void begin(RedisServer server) {
                server.stop();
            }
        },
        SILENT {
            @Override
            void begin(RedisServer server) {
                server.pause();
            }
        };

        abstract void begin(RedisServer server);
    }

    @RestController
    static class Orders {

        private final LockClient locks;

        Orders(LockClient locks) {
            this.locks = locks.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(50)));
        }

        @GetMapping("/warm")
        Mono<String> warm() {
            return locks.with(LockOptions.defaults()).withLock("order:42", Mono.just("paid"));
        }

        @GetMapping("/pay")
        Mono<String> pay() {
            return locks.withLock("order:42", Mono.just("paid"));
        }

        /** Waits for as long as the store is waited for. */
        @GetMapping("/patient")
        Mono<String> payPatiently() {
            return warm();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Level before = root.getLevel();
    /** When the store went away, by {@link System#nanoTime}. */
    private long begun;

    /** As much as an application logs that sets nothing. */
    @BeforeEach
    void log() {
        root.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        root.detachAppender(logged);
        root.setLevel(before);
    }

    private static String[] at(RedisServer server, String... properties) {
        return Stream.concat(
                        Stream.of("reactive-lock.store=redis", "reactive-lock.url=" + server.uri()),
                        Stream.of(properties))
                .toArray(String[]::new);
    }

    private void webFlux(Outage outage, Consumer<Integer> statuses, String... properties) {
        try (RedisServer server = RedisServer.start()) {
            new ReactiveWebApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            JacksonAutoConfiguration.class,
                            CodecsAutoConfiguration.class,
                            HttpHandlerAutoConfiguration.class,
                            WebFluxAutoConfiguration.class,
                            ErrorWebFluxAutoConfiguration.class,
                            ReactiveLockAutoConfiguration.class,
                            LockProblemsAutoConfiguration.class))
                    .withPropertyValues(at(server, properties))
                    .withBean(Orders.class)
                    .run(context -> {
                        Pause.until("a busy machine has connected", () -> got(context, "/warm") == 200);
                        begin(outage, server);
                        for (int each = 0; each < REQUESTS; each++) {
                            statuses.accept(got(context, each == 0 ? "/patient" : "/pay"));
                        }
                        root.detachAppender(logged);
                    });
        }
    }

    private static int got(ApplicationContext context, String path) {
        return WebTestClient.bindToApplicationContext(context)
                .configureClient()
                .responseTimeout(Contexts.PATIENCE)
                .build()
                .get()
                .uri(path)
                .exchange()
                .returnResult(String.class)
                .getStatus()
                .value();
    }

    private void mvc(Outage outage, Consumer<Integer> statuses) {
        try (RedisServer server = RedisServer.start()) {
            new WebApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            ReactiveLockAutoConfiguration.class, LockProblemsAutoConfiguration.class))
                    .withPropertyValues(at(server))
                    .withUserConfiguration(Mvc.class)
                    .withBean(Orders.class)
                    .run(context -> {
                        MockMvc mvc =
                                MockMvcBuilders.webAppContextSetup(context).build();
                        Pause.until("a busy machine has connected", () -> isWarm(mvc));
                        begin(outage, server);
                        for (int each = 0; each < REQUESTS; each++) {
                            statuses.accept(answered(mvc, each == 0 ? "/patient" : "/pay"));
                        }
                        root.detachAppender(logged);
                    });
        }
    }

    private static boolean isWarm(MockMvc mvc) {
        try {
            return answered(mvc, "/warm") == 200;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static int answered(MockMvc mvc, String path) throws Exception {
        MvcResult begun = mvc.perform(get(path)).andReturn();
        begun.getAsyncResult(Contexts.PATIENCE.toMillis());
        return mvc.perform(asyncDispatch(begun)).andReturn().getResponse().getStatus();
    }

    private void begin(Outage outage, RedisServer server) {
        logged.start();
        root.addAppender(logged);
        begun = System.nanoTime();
        outage.begin(server);
    }

    private void assertALineForEachRequest() {
        int seconds = (int) Duration.ofNanos(System.nanoTime() - begun).toSeconds();
        List<ILoggingEvent> all = List.copyOf(logged.list);
        assertThat(all.stream().filter(OutageLogTest::isOfARequest)).hasSize(REQUESTS);
        assertThat(all.stream().flatMap(OutageLogTest::lines))
                .hasSizeBetween(REQUESTS, REQUESTS + LINES_OF_AN_OUTAGE + seconds)
                .noneMatch(line -> line.startsWith("\tat "));
    }

    private static boolean isOfARequest(ILoggingEvent event) {
        return event.getFormattedMessage().startsWith("503: lock 'order:42' could not be acquired");
    }

    private static Stream<String> lines(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        return Stream.concat(
                event.getFormattedMessage().lines(),
                thrown == null
                        ? Stream.empty()
                        : ThrowableProxyUtil.asString(thrown).lines());
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatFailsInAnOutageIsOneLineOfTheLog(Outage outage) {
        webFlux(outage, status -> assertThat(status).isEqualTo(503));

        assertALineForEachRequest();
    }

    @ParameterizedTest
    @EnumSource
    void soItIsWithMvc(Outage outage) {
        mvc(outage, status -> assertThat(status).isEqualTo(503));

        assertALineForEachRequest();
    }

    /** What Spring then logs has where the request stood, and nothing of the engine's inside. */
    @ParameterizedTest
    @EnumSource
    void whereTheApplicationSpeaksForItselfTracesAreWithoutTheEngine(Outage outage) {
        webFlux(outage, status -> assertThat(status).isEqualTo(500), "reactive-lock.problemdetails.enabled=false");

        List<String> lines = logged.list.stream().flatMap(OutageLogTest::lines).toList();
        assertThat(lines)
                .hasSizeBetween(REQUESTS, REQUESTS * LINES_OF_SPRING)
                .noneMatch(line -> line.startsWith("\tat io.github.reactivelock."));
    }
}
