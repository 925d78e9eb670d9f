package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class JsonTest {

    @Test
    void anAnswerOfAnUnknownFormIsToldAsSuch() {
        assertThatIllegalStateException().isThrownBy(() -> Json.entries("[1,2]"));
        assertThatIllegalStateException().isThrownBy(() -> Json.sessionId("{\"ID\":[]}"));
        assertThatIllegalStateException().isThrownBy(() -> Json.outcome("{\"Results\":[1]}"));
        assertThat(Json.entries("null")).isEmpty();
    }
}
