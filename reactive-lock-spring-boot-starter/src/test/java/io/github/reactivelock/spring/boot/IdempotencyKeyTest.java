package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** What is a key, and the text of an answer that is kept. */
class IdempotencyKeyTest {

    private static final int LONGEST = 36;

    @Test
    void aStringInQuotesIsAKeyAndItsParametersMeanNothing() {
        String uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";

        assertThat(IdempotencyKey.read("\"" + uuid + "\"", LONGEST)).contains(uuid);
        assertThat(IdempotencyKey.read("  \" a b\"  ", LONGEST)).contains(" a b");
        assertThat(IdempotencyKey.read("\"a\\\"b\\\\\"", LONGEST)).contains("a\"b\\");
        assertThat(IdempotencyKey.read("\"a\";p", LONGEST)).contains("a");
        assertThat(IdempotencyKey.read("\"a\";p=1;q=\"x;y\"; r=?0;s=:aGk=:;t=token/1;u=-1.5;v=@1659578233", LONGEST))
                .contains("a");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\"",
                "\"\"",
                "a",
                "8e03978e-40d5-43e8-bc93-6894a57f9324",
                "\"a",
                "a\"",
                "\"a\" b",
                "\"a\", \"b\"",
                "\"a\\b\"",
                "\"a\\",
                "\"a\u0001\"",
                "\"a\tb\"",
                "\"\u00e4\"",
                "\"\u007f\"",
                "\"a\";",
                "\"a\";P",
                "\"a\";p=",
                "\"a\";p=\"b",
                "(\"a\")",
                "\"8e03978e-40d5-43e8-bc93-6894a57f9324+\""
            })
    void anythingElseIsNone(String value) {
        assertThat(IdempotencyKey.read(value, LONGEST)).isEmpty();
    }

    @Test
    void aMegabyteIsNoneHoweverItIsMade() {
        for (String part : List.of("a", "\\\"", "\";a=\"", ";a")) {
            String value = "\"" + part.repeat(1_000_000 / part.length()) + "\"";

            assertThat(IdempotencyKey.read(value, LONGEST)).isEmpty();
            assertThat(IdempotencyKey.read(value, 4096)).isEmpty();
        }
    }

    @Test
    void anAnswerIsReadAsItWasWritten() {
        HttpHeaders headers = new HttpHeaders();
        headers.add("Link", "</a>; rel=x");
        headers.add("Link", "two\r\nlines: here");
        byte[] body = {0, 1, -1, '\n'};

        KeptAnswer kept = KeptAnswer.read(new KeptAnswer("print", HttpStatus.CREATED, headers, body).text());

        assertThat(kept.isOf("print")).isTrue();
        assertThat(kept.isOf("other")).isFalse();
        assertThat(kept.text()).isEqualTo("answer-1 print 201\nLink:</a>; rel=x\nLink:two lines: here\n=AAH/Cg==");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "paid",
                "answer-1 a 200",
                "answer-1 a\n=",
                "answer-2 a 200\n=",
                "answer-1 a x\n=",
                "answer-1 a 200\nno colon\n=",
                "answer-1 a 200\n=?"
            })
    void aRecordOfAnotherFormIsRefused(String text) {
        assertThatThrownBy(() -> KeptAnswer.read(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
