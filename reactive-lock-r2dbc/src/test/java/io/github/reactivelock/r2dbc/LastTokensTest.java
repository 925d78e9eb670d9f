package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LastTokensTest {

    private final LastTokens tokens = new LastTokens();

    /** A take of a lock that another client has had in between. */
    private boolean guessesWrong() {
        boolean guessed = tokens.guess("k").isPresent();
        if (guessed) {
            tokens.wasWrong("k");
        }
        tokens.note("k", 7);
        return guessed;
    }

    @Test
    void theGuessIsTheTokenThatWasHadLast() {
        assertThat(tokens.guess("k")).isEmpty();
        tokens.note("k", 5);
        tokens.note("k", 7);
        assertThat(tokens.guess("k")).hasValue(7);
        assertThat(tokens.guess("other")).isEmpty();
    }

    @Test
    void whereOthersTakeTheLockInBetweenWrongGuessesGetRare() {
        tokens.note("k", 5);
        long wrong = IntStream.range(0, 1_000).filter(i -> guessesWrong()).count();
        assertThat(wrong).as("in 1,000 takes").isBetween(2L, 10L);
    }

    @Test
    void aGuessThatWasRightIsMadeAgainAtOnce() {
        tokens.note("k", 5);
        long unused = IntStream.range(0, 100).filter(i -> guessesWrong()).count();
        long takes = IntStream.range(0, 10_000)
                .takeWhile(i -> tokens.guess("k").isEmpty())
                .count();
        assertThat(takes).isLessThan(200);

        tokens.wasRight("k");
        assertThat(tokens.guess("k")).isPresent();
        tokens.wasWrong("k");
        assertThat(tokens.guess("k")).as("the next take").isEmpty();
        assertThat(tokens.guess("k")).as("the one after").isPresent();
    }

    @Test
    void noMoreKeysAreRememberedThanAreUseful() {
        IntStream.range(0, 10_001).forEach(i -> tokens.note("key " + i, i));
        assertThat(tokens.guess("key 0")).isEmpty();
        assertThat(tokens.guess("key 10000")).hasValue(10_000);
    }
}
