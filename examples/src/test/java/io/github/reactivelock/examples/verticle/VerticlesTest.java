package io.github.reactivelock.examples.verticle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class VerticlesTest {

    @Test
    void theDemoEndsByItselfAndShowsEachInvoicePrintedOnce() throws Exception {
        RunningExample demo = RunningExample.run(Verticles.class, "--demo");

        assertThat(demo.exit()).as(demo.text()).isZero();
        assertThat(demo.text())
                .contains("12 sheets for 12 invoices, 0 collisions at the printer")
                .contains("north printed")
                .contains("south printed")
                .contains("south holds the keys");
        assertThat(demo.text())
                .as("more sheets than invoices without the lock")
                .containsPattern("no lock\n +(1[3-9]|2[0-4]) sheets for 12 invoices");
    }

    @Test
    void aRedisThatIsNotThereIsNamed() throws Exception {
        RunningExample demo = RunningExample.run(Verticles.class, "--demo", "--redis", "redis://127.0.0.1:1");

        assertThat(demo.exit()).as(demo.text()).isEqualTo(1);
        assertThat(demo.text()).contains("127.0.0.1:1").contains("refused").doesNotContain("\tat ");
    }
}
