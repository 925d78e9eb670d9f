package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** What one turn of the event loop asks for, which leaves as one command. */
class VertxBatchTest {

    private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");
    private static Fixture fixture;
    private LockBackend backend;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
        get(backend.claim(claim("warm-up")));
    }

    @AfterEach
    void reset() {
        fixture.reset();
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

    private static long calls() {
        Matcher stats = CALLS.matcher(String.valueOf(fixture.server.command("INFO", "commandstats")));
        return stats.find() ? Long.parseLong(stats.group(1)) : 0;
    }

    @Test
    void manyLocksAreAskedForWithFewCommandsAndEachIsAnsweredForItself() {
        get(backend.claim(claim("key 7")));
        long before = calls();

        List<Signal<Object>> answers = together(IntStream.range(0, 100)
                .<Mono<?>>mapToObj(i -> backend.claim(claim("key " + i)))
                .toList());

        assertThat(calls() - before).as("commands for 101 questions").isBetween(2L, 10L);
        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).get())
                    .as("key %d", i)
                    .isInstanceOf(i == 7 ? ClaimResult.Queued.class : ClaimResult.Granted.class);
        }
    }

    @Test
    void questionsOfOneTurnTakeEffectInTheirOrder() {
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
        fixture.server.command("RPUSH", "{reactivelock:list}", "somebody's");
        fixture.server.command("SET", "{reactivelock:text}", "somebody's");

        List<Signal<Object>> answers = together(List.of(
                backend.claim(claim("a")),
                backend.claim(claim("list")),
                backend.claim(claim("text")),
                backend.claim(claim("b"))));

        assertThat(answers.get(0).get()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(answers.get(1).getThrowable()).hasMessageContaining("'{reactivelock:list}'");
        assertThat(answers.get(2).getThrowable()).hasMessageContaining("'{reactivelock:text}'");
        assertThat(answers.get(3).get()).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aServerThatForgotTheScriptGetsItWithTheCommand() {
        fixture.server.command("SCRIPT", "FLUSH");

        List<Signal<Object>> answers = together(List.of(backend.claim(claim("a")), backend.claim(claim("b"))));

        assertThat(answers).allSatisfy(answer -> assertThat(answer.get()).isInstanceOf(ClaimResult.Granted.class));
    }
}
