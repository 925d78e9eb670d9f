package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import reactor.core.publisher.Mono;

/** What HTTP says of a lock that is taken, of a store that is away, and of a lock that was lost. */
@ExtendWith(OutputCaptureExtension.class)
class LockProblemsTest {

    private static final String CONFLICT = "{\"detail\":\"Another request has what this one needs. Try again soon.\"";

    /**
     * Else BlockHound sees the JDK load its native code on a thread of a connection, and the class is lost for this
     * JVM.
     */
    @BeforeAll
    static void loadSockets() throws IOException {
        new Socket().close();
    }

    @RestController
    static class Orders {

        private final LockClient locks;

        Orders(LockClient locks) {
            this.locks = locks;
        }

        private <T> Mono<T> busy() {
            LockClient impatient = locks.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(1)));
            return impatient.acquire("secret").onErrorComplete().then(impatient.withLock("secret", Mono.empty()));
        }

        @GetMapping("/busy")
        Mono<String> taken() {
            return busy();
        }

        @GetMapping("/wrapped")
        Mono<String> wrapped() {
            return this.<String>busy()
                    .onErrorMap(
                            LockTimeoutException.class,
                            busy -> new ResponseStatusException(HttpStatus.LOCKED, "mine", busy));
        }

        @GetMapping("/closed")
        Mono<String> closed() {
            return locks.close().then(locks.withLock("secret", Mono.just("never")));
        }

        @GetMapping("/lost")
        Mono<String> lost() {
            return locks.withLock("secret", held -> locks.forceRelease("secret").then(Mono.<String>never()));
        }

        @GetMapping("/away")
        Mono<String> away() {
            return locks.withLock("secret", Mono.just("never"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Functions {
        @Bean
        RouterFunction<ServerResponse> busy(LockClient locks) {
            return RouterFunctions.route()
                    .GET("/function", request -> new Orders(locks).busy())
                    .build();
        }
    }

    @RestControllerAdvice
    static class Own {
        @ExceptionHandler(RuntimeException.class)
        ResponseEntity<String> all(RuntimeException any) {
            return ResponseEntity.status(HttpStatus.GONE).body("own");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    private static ReactiveWebApplicationContextRunner webFlux(String... properties) {
        return new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        JacksonAutoConfiguration.class,
                        CodecsAutoConfiguration.class,
                        HttpHandlerAutoConfiguration.class,
                        WebFluxAutoConfiguration.class,
                        ErrorWebFluxAutoConfiguration.class,
                        ReactiveLockAutoConfiguration.class,
                        LockProblemsAutoConfiguration.class))
                .withPropertyValues("reactive-lock.store=memory")
                .withPropertyValues(properties)
                .withBean(Orders.class)
                .withUserConfiguration(Functions.class);
    }

    private static WebTestClient.ResponseSpec got(ApplicationContext context, String path) {
        return WebTestClient.bindToApplicationContext(context)
                .configureClient()
                .responseTimeout(Contexts.PATIENCE)
                .build()
                .get()
                .uri(path)
                .exchange();
    }

    private static void mvc(String property, Consumer<WebApplicationContext> test) {
        new WebApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(ReactiveLockAutoConfiguration.class, LockProblemsAutoConfiguration.class))
                .withPropertyValues("reactive-lock.store=memory", property)
                .withUserConfiguration(Mvc.class)
                .withBean(Orders.class)
                .run(test::accept);
    }

    private static MockHttpServletResponse answered(WebApplicationContext context, String path) throws Exception {
        MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
        MvcResult begun = mvc.perform(get(path)).andReturn();
        begun.getAsyncResult(Contexts.PATIENCE.toMillis());
        return mvc.perform(asyncDispatch(begun)).andReturn().getResponse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/busy", "/function"})
    void aLockThatOthersHaveIsAConflictThatTellsWhenToTryAgain(String path) {
        webFlux()
                .run(context -> got(context, path)
                        .expectStatus()
                        .isEqualTo(HttpStatus.CONFLICT)
                        .expectHeader()
                        .valueEquals("Retry-After", "1")
                        .expectHeader()
                        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                        .expectBody(String.class)
                        .consumeWith(told -> assertThat(told.getResponseBody())
                                .contains("\"status\":409", "Another request has what this one needs")
                                .doesNotContain("secret")));
    }

    @Test
    void aStoreThatCannotBeAskedIs503AndOneLineOfTheLog(CapturedOutput output) {
        webFlux("reactive-lock.store=redis", "reactive-lock.url=redis://:hidden@127.0.0.1:1")
                .run(context -> got(context, "/away")
                        .expectStatus()
                        .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                        .expectHeader()
                        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                        .expectBody(String.class)
                        .consumeWith(told -> assertThat(told.getResponseBody()).doesNotContain("127.0.0.1", "secret")));
        webFlux().run(context -> got(context, "/closed").expectStatus().isEqualTo(HttpStatus.SERVICE_UNAVAILABLE));

        assertThat(output).contains("503: lock 'secret' could not be").doesNotContain("\tat io.github.reactivelock");
    }

    @Test
    void aLostLockIs500WithAProblemThatSaysWhatToCheck() {
        webFlux()
                .run(context -> got(context, "/lost")
                        .expectStatus()
                        .isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR)
                        .expectBody(String.class)
                        .consumeWith(told ->
                                assertThat(told.getResponseBody()).contains("Look whether its last step took effect")));
    }

    @Test
    void whatTheApplicationSaysItselfComesFirst() {
        webFlux()
                .withBean(Own.class)
                .run(context -> got(context, "/busy").expectStatus().isEqualTo(HttpStatus.GONE));
        webFlux().run(context -> got(context, "/wrapped").expectStatus().isEqualTo(HttpStatus.LOCKED));
    }

    @Test
    void thePropertySwitchesItOff() {
        webFlux("reactive-lock.problemdetails.enabled=false")
                .run(context -> got(context, "/busy").expectStatus().isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR));
    }

    @Test
    void mvcSaysTheSame() {
        mvc("a=b", context -> {
            try {
                assertThat(answered(context, "/lost").getStatus()).isEqualTo(500);
                MockHttpServletResponse busy = answered(context, "/busy");
                assertThat(busy.getStatus()).isEqualTo(409);
                assertThat(busy.getHeader("Retry-After")).isEqualTo("1");
                assertThat(busy.getContentType()).isEqualTo("application/problem+json");
                assertThat(busy.getContentAsString()).contains(CONFLICT);
                assertThat(answered(context, "/wrapped").getStatus()).isEqualTo(423);
                assertThat(answered(context, "/closed").getStatus()).isEqualTo(503);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        mvc(
                "reactive-lock.problemdetails.enabled=false",
                context ->
                        assertThat(context.getBeansOfType(LockProblems.class)).isEmpty());
    }
}
