package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TourTest {

    @Test
    void theTourEndsByItselfAndShowsTheErrorsItMeansToShow() throws Exception {
        RunningExample tour = RunningExample.run(Tour.class);

        assertThat(tour.exit()).as(tour.text()).isZero();
        assertThat(tour.text())
                .contains("there gets it: false")
                .contains("LockTimeoutException: lock 'order:42'")
                .contains("the work is cancelled")
                .contains("LockLostException: lock 'order:42'")
                .contains("holds [account:current, account:savings]");
    }

    @Test
    void aRedisThatIsNotThereIsNamed() throws Exception {
        RunningExample tour = RunningExample.run(Tour.class, "--redis", "redis://127.0.0.1:1");

        assertThat(tour.exit()).as(tour.text()).isEqualTo(1);
        assertThat(tour.text()).contains("127.0.0.1:1").contains("refused").doesNotContain("\tat ");
    }

    @Test
    void aPasswordInAWrongUriIsNotRepeated() throws Exception {
        RunningExample tour = RunningExample.run(Tour.class, "--redis", "http://user:secret@host");

        assertThat(tour.exit()).as(tour.text()).isEqualTo(2);
        assertThat(tour.text()).contains("--redis must be").doesNotContain("secret");
    }
}
