package io.github.reactivelock.benchmarks.webflux;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.benchmarks.side.RedissonAsyncSide;
import io.github.reactivelock.benchmarks.side.Sides;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLockReactive;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/**
 * The application that is measured under load: one handler, which counts requests under a lock, once with each
 * library's lock and once without any. Its input asks what was counted, and it ends when that does.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class WebFluxApp {

    static final String NO_LOCK = "no-lock";

    /** Puts the work of a request under the lock of a key. */
    private interface Guard extends BiFunction<String, Mono<String>, Mono<String>> {}

    @Bean
    Tallies tallies() {
        return new Tallies(List.of(Sides.OURS, Sides.REDISSON_REACTIVE, NO_LOCK));
    }

    @Bean(destroyMethod = "shutdown")
    RedissonClient redisson(Environment environment) {
        return Redisson.create(RedissonAsyncSide.config(environment.getRequiredProperty("reactive-lock.url")));
    }

    /** The path has the side, the turn, which gives it locks of its own, and the key. */
    @Bean
    RouterFunction<ServerResponse> routes(LockClient locks, RedissonClient redisson, Tallies tallies) {
        Map<String, Guard> guards = Map.of(
                Sides.OURS,
                locks::withLock,
                Sides.REDISSON_REACTIVE,
                guard(redisson.reactive()),
                NO_LOCK,
                (key, work) -> work);
        return RouterFunctions.route()
                .POST("/{side}/{turn}/{key}", request -> {
                    String side = request.pathVariable("side");
                    String key = request.pathVariable("key");
                    Tallies.Tally tally = tallies.of(side);
                    return Optional.ofNullable(guards.get(side))
                            .orElseThrow()
                            .apply(side + ":" + request.pathVariable("turn") + ":" + key, tally.countOne(key))
                            .flatMap(answer -> ServerResponse.ok().bodyValue(answer));
                })
                .build();
    }

    /** A flow's number is what Redisson takes for the number of its thread. */
    private static Guard guard(RedissonReactiveClient redisson) {
        AtomicLong flows = new AtomicLong();
        return (key, work) -> Mono.defer(() -> {
            RLockReactive lock = redisson.getLock(key);
            long flow = flows.incrementAndGet();
            return Mono.usingWhen(lock.lock(flow).thenReturn(lock), held -> work, held -> held.unlock(flow));
        });
    }

    /**
     * Serves, says on which port, and answers questions.
     *
     * @param args where Redis is, and {@code watched} if BlockHound shall watch
     * @throws IOException if the process that started it is gone
     */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        // What a library prints must not look like an answer.
        System.setOut(System.err);
        Watch watch = new Watch();
        if (List.of(args).contains("watched")) {
            watch.begin();
        }
        SpringApplication application = new SpringApplication(WebFluxApp.class);
        application.setBannerMode(Banner.Mode.OFF);
        ConfigurableApplicationContext context =
                application.run("--server.port=0", "--server.address=127.0.0.1", "--reactive-lock.url=" + args[0]);
        answers.println("ok " + context.getEnvironment().getRequiredProperty("local.server.port"));
        Tallies tallies = context.getBean(Tallies.class);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String question = questions.readLine(); question != null; question = questions.readLine()) {
            answers.println("ok " + (question.equals("blocked") ? watch.ours() : tallies.of(question)));
        }
        System.exit(0);
    }
}
