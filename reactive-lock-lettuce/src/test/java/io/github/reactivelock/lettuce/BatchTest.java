package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** What one turn of the event loop asks for, which leaves as one call. */
class BatchTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
        take(backend, claim("warm-up"));
    }

    /** Asks for all in one turn: that of the answer to another question. */
    private List<Signal<Object>> together(List<Mono<?>> questions) {
        return backend.inspect("turn")
                .flatMapMany(turn -> Flux.fromIterable(questions)
                        .flatMapSequential(
                                question -> question.cast(Object.class).materialize(), questions.size()))
                .collectList()
                .blockOptional(Duration.ofSeconds(60))
                .orElseThrow();
    }

    private Mono<ClaimResult> asked(String key) {
        return backend.claim(claim(key));
    }

    private long calls() {
        return fixture.calls().getOrDefault("evalsha", 0L);
    }

    @Test
    void manyLocksAreAskedForWithFewCallsAndEachIsAnsweredForItself() {
        Claim held = claim("key 7");
        take(backend, held);
        long before = calls();

        List<Signal<Object>> answers = together(Stream.iterate(0, i -> i + 1)
                .limit(100)
                .<Mono<?>>map(i -> asked("key " + i))
                .toList());

        assertThat(calls() - before).as("calls for 101 claims").isBetween(2L, 10L);
        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).get())
                    .as("key %d", i)
                    .isInstanceOf(i == 7 ? ClaimResult.Queued.class : ClaimResult.Granted.class);
        }
    }

    @Test
    void callsOfOneTurnTakeEffectInTheirOrder() {
        Claim first = claim("a");
        Claim second = claim("a");

        List<Signal<Object>> answers = together(List.of(
                backend.claim(first),
                backend.claim(second),
                backend.release(first),
                backend.claim(second),
                backend.release(first),
                backend.release(second)));

        assertThat(answers.get(0).get()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.get(1).get()).isInstanceOf(ClaimResult.Queued.class);
        assertThat(answers.get(2).get()).isEqualTo(true);
        assertThat(answers.get(3).get()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.get(4).get()).isEqualTo(false);
        assertThat(answers.get(5).get()).isEqualTo(true);
    }

    @Test
    void whatFailsLeavesTheOthersAlone() {
        fixture.redis.rpush("{reactivelock:list}", "somebody's");
        fixture.redis.set("{reactivelock:text}", "somebody's");

        List<Signal<Object>> answers = together(List.of(asked("a"), asked("list"), asked("text"), asked("b")));

        assertThat(answers.get(0).get()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.get(1).getThrowable()).hasMessageContaining("'{reactivelock:list}'");
        assertThat(answers.get(2).getThrowable()).hasMessageContaining("'{reactivelock:text}'");
        assertThat(answers.get(3).get()).isInstanceOf(ClaimResult.Granted.class);
    }

    /** Behind a release they would be let in: Redis refuses no write of a script that has written already. */
    @Test
    void aServerWithoutMemoryRefusesEachClaimAndCarriesReleasesOut() {
        Claim held = claim("held");
        take(backend, held);
        fixture.redis.configSet("maxmemory", "1");

        List<Signal<Object>> answers = together(List.of(asked("a"), asked("b"), backend.release(held)));

        fixture.redis.configSet("maxmemory", "0");
        assertThat(answers.get(0).getThrowable()).hasMessageContaining("OOM");
        assertThat(answers.get(2).get()).isEqualTo(true);
        assertThat(answers.get(1).getThrowable()).hasMessageContaining("OOM");
        assertThat(fixture.redis.exists("{reactivelock:a}", "{reactivelock:b}", "{reactivelock:held}"))
                .isZero();
    }

    /** A connection of a test before this one that opens just then brings the script too, once. */
    @Test
    void aServerThatForgotTheScriptGetsItWithTheCall() {
        Mono<Object> forget = Mono.fromSupplier(fixture.redis::scriptFlush);
        int attempt = 0;
        while (!fixture.calls().containsKey("eval")) {
            assertThat(attempt++).as("attempts in which no script was sent").isLessThan(5);

            List<Signal<Object>> answers = together(List.of(asked("a" + attempt), forget, asked("b" + attempt)));

            assertThat(answers.get(0).get()).isInstanceOf(ClaimResult.Granted.class);
            assertThat(answers.get(2).get()).isInstanceOf(ClaimResult.Granted.class);
        }
    }
}
