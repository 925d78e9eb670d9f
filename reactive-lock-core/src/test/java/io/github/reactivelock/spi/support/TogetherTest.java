package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Questions that are put together. */
class TogetherTest {

    /** A burst that has left. */
    private record Burst(String name, List<String> questions, Sinks.One<String> answer) {}

    private final List<Burst> left = new ArrayList<>();
    private final Together<String, String> together = new Together<>("asking", 3, this::ask);

    private Mono<String> ask(String name, Supplier<List<String>> leaving) {
        return Mono.defer(() -> {
            Sinks.One<String> answer = Sinks.one();
            left.add(new Burst(name, leaving.get(), answer));
            return answer.asMono();
        });
    }

    private CompletableFuture<String> asked(String name, String question) {
        return together.ask(name, question).toFuture();
    }

    private void answer(int burst, String answer) {
        Sinks.EmitResult unused = left.get(burst).answer().tryEmitValue(answer);
    }

    private List<List<String>> questions() {
        return left.stream().map(Burst::questions).toList();
    }

    @Test
    void whatComesWhileOneIsUnansweredLeavesWithTheNext() {
        CompletableFuture<String> first = asked("a", "1");
        CompletableFuture<String> second = asked("a", "2");
        CompletableFuture<String> same = asked("a", "2");
        CompletableFuture<String> other = asked("b", "3");
        assertThat(questions()).containsExactly(List.of("1"), List.of("3"));

        answer(0, "one");
        assertThat(first).isCompletedWithValue("one");
        assertThat(second).isNotDone();
        assertThat(questions()).containsExactly(List.of("1"), List.of("3"), List.of("2", "2"));

        answer(2, "two");
        answer(1, "three");
        assertThat(second).isCompletedWithValue("two");
        assertThat(same).isCompletedWithValue("two");
        assertThat(other).isCompletedWithValue("three");
    }

    @Test
    void moreThanFitIntoOneBurstLeaveInSeveral() {
        CompletableFuture<String> first = asked("a", "1");
        List<CompletableFuture<String>> rest =
                List.of(asked("a", "2"), asked("a", "3"), asked("a", "4"), asked("a", "5"));
        answer(0, "");
        answer(1, "");

        assertThat(questions()).containsExactly(List.of("1"), List.of("2", "3", "4"), List.of("5"));
        answer(2, "");
        assertThat(first).isDone();
        assertThat(rest).allMatch(CompletableFuture::isDone);
    }

    @Test
    void aQuestionThatIsNotWaitedForAnyMoreIsNotPut() {
        CompletableFuture<String> first = asked("a", "1");
        Disposable givenUp = together.ask("a", "2").subscribe(answer -> {}, error -> {});
        CompletableFuture<String> last = asked("a", "3");
        givenUp.dispose();
        answer(0, "");

        assertThat(first).isDone();
        assertThat(questions()).containsExactly(List.of("1"), List.of("3"));
        answer(1, "");
        assertThat(last).isDone();
    }

    @Test
    void anErrorIsThatOfTheBurstAndNotOfTheNext() {
        CompletableFuture<String> first = asked("a", "1");
        CompletableFuture<String> second = asked("a", "2");
        Sinks.EmitResult unused = left.get(0).answer().tryEmitError(new IllegalStateException("refused"));
        answer(1, "two");

        assertThat(first).isCompletedExceptionally();
        assertThat(second).isCompletedWithValue("two");
    }

    @Test
    void aBurstThatCannotLeaveFailsAllThatCame() {
        Together<String, String> closed =
                new Together<>("asking", 3, (name, leaving) -> Mono.error(new IllegalStateException("closed")));

        assertThat(closed.ask("a", "1").toFuture()).isCompletedExceptionally();
        assertThat(closed.ask("a", "2").toFuture()).isCompletedExceptionally();
    }
}
