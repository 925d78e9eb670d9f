package io.github.reactivelock.testkit.history;

import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.ASKED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.FAULT_BEGAN;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.FAULT_ENDED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.GAVE_UP;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.GRANTED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.HELD;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.INVOKED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.KILLED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.LOST;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.PUSHES_CUT;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.QUEUED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.RELEASED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.SERVED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.STALLED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.WITHDRAWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Histories written by hand, in milliseconds, each with one fault; leases last three seconds. */
class HistoryCheckerTest {

    /** Known to the compiler's checks by its name. */
    @interface CanIgnoreReturnValue {}

    private final List<HistoryEvent> events = new ArrayList<>();

    @CanIgnoreReturnValue
    private HistoryCheckerTest at(long millis, String client, Kind kind, String id) {
        return at(millis, client, kind, id, 0);
    }

    @CanIgnoreReturnValue
    private HistoryCheckerTest at(long millis, String client, Kind kind, String id, long token) {
        long nanos = Duration.ofMillis(millis).toNanos();
        long until =
                kind == GRANTED || kind == HELD ? nanos + Duration.ofSeconds(3).toNanos() : 0;
        events.add(new HistoryEvent(nanos, client, kind, "k", id, token, until));
        return this;
    }

    @CanIgnoreReturnValue
    private HistoryCheckerTest hold(String client, String id, long from, long to, long token) {
        return at(from, client, INVOKED, id)
                .at(from, client, GRANTED, id, token)
                .at(to, client, RELEASED, id);
    }

    private HistoryReport report(String... left) {
        return new HistoryChecker(Duration.ofSeconds(3)).check(events, List.of(left));
    }

    private static void assertOnly(List<String> found, HistoryReport report, String... words) {
        assertThat(found).singleElement().asString().contains(words);
        assertThat(report.overlaps().size()
                        + report.tokenRegressions().size()
                        + report.lostWakeups().size()
                        + report.disorders().size()
                        + report.leaks().size())
                .as("nothing but this: %s", report)
                .isEqualTo(1);
        assertThat(report.isClean()).isFalse();
    }

    @Test
    void turnsTakenOneAfterTheOtherAreClean() {
        hold("a", "1", 0, 10, 5).hold("b", "2", 10, 4_000, 6);
        at(3_000, "b", HELD, "2", 6).at(5, "c", INVOKED, "3").at(2_900, "c", GAVE_UP, "3");

        report().verify();
        assertThat(report().acquisitions()).isEqualTo(2);
    }

    @Test
    void twoHoldersAtOnceAreFound() {
        hold("a", "1", 0, 10, 5).hold("b", "2", 9, 20, 6);

        assertOnly(report().overlaps(), report(), "2 of 'k'", "1000 us");
    }

    @Test
    void aShortHoldInsideALongOneIsFoundAndSoIsTheNext() {
        hold("a", "1", 0, 100, 5).hold("b", "2", 10, 20, 6).hold("c", "3", 30, 40, 7);

        assertThat(report().overlaps()).hasSize(2);
    }

    @Test
    void aHolderThatWakesAfterItsDeadlineDoesNotOverlapItsSuccessor() {
        at(0, "a", INVOKED, "1").at(0, "a", GRANTED, "1", 5).at(9_000, "a", LOST, "1");
        hold("b", "2", 3_001, 3_500, 6);
        assertThat(report().overlaps()).isEmpty();

        at(2_000, "a", HELD, "1", 5);
        assertOnly(report().overlaps(), report(), "2 of 'k'");
    }

    @Test
    void aTokenThatGoesBackOrRepeatsIsFound() {
        hold("a", "1", 0, 10, 5).hold("b", "2", 10, 20, 5);
        assertOnly(report().tokenRegressions(), report(), "token 5");

        hold("c", "3", 20, 30, 4);
        assertThat(report().tokenRegressions()).hasSize(2);
    }

    @Test
    void aLockThatStaysFreeWhileSomebodyWaitsIsFound() {
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(2_011, "b", GRANTED, "2", 6);
        at(2_020, "b", RELEASED, "2");

        assertOnly(report().lostWakeups(), report(), "2001 ms");
    }

    @Test
    void aLockThatNobodyGetsAnyMoreIsFound() {
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(2_100, "b", GAVE_UP, "2");

        assertOnly(report().lostWakeups(), report(), "2 of 'k'");
    }

    @Test
    void aLockThatIsFreeAndThatNobodyWaitsForIsClean() {
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(1_900, "b", GAVE_UP, "2");
        hold("c", "3", 9_000, 9_001, 6);

        report().verify();
    }

    @Test
    void delayIsExcusedDuringAFaultAndForALeaseAfterIt() {
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(6_500, "b", GRANTED, "2", 6);
        at(6_600, "b", RELEASED, "2").at(1_000, "", FAULT_BEGAN, "cut").at(2_000, "", FAULT_ENDED, "cut");
        report().verify();

        at(8_600, "b", INVOKED, "3").at(10_700, "b", GRANTED, "3", 7).at(10_701, "b", RELEASED, "3");
        assertOnly(report().lostWakeups(), report(), "3 of 'k'");
    }

    @Test
    void timeInWhichAProcessStoodStillDoesNotCount() {
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(3_000, "b", GRANTED, "2", 6);
        at(3_001, "b", RELEASED, "2");
        assertThat(report().lostWakeups()).hasSize(1);

        events.add(new HistoryEvent(1_500_000_000L, "b", STALLED, "", "stall", 0, 1_700_000_000L));
        report().verify();
    }

    @Test
    void whatAKilledClientHeldIsFreeOneLeaseLater() {
        at(0, "a", INVOKED, "1").at(0, "a", GRANTED, "1", 5).at(1_000, "", KILLED, "a");
        at(10, "b", INVOKED, "2").at(5_000, "b", GRANTED, "2", 6).at(5_001, "b", RELEASED, "2");
        report().verify();

        at(10, "c", INVOKED, "3").at(7_100, "c", GRANTED, "3", 7).at(7_101, "c", RELEASED, "3");
        assertOnly(report().lostWakeups(), report(), "3 of 'k'");
    }

    @Test
    void aClaimThatOvertakesAnotherIsFound() {
        at(0, "a", ASKED, "A").at(1, "a", QUEUED, "A").at(2, "b", ASKED, "B").at(3, "b", QUEUED, "B");
        at(10, "b", SERVED, "B", 5).at(11, "a", SERVED, "A", 6);

        assertOnly(report().disorders(), report(), "claim B", "before claim A");
    }

    @Test
    void aClaimThatIsNeverServedIsFoundWhenAnotherOvertakesIt() {
        at(0, "a", ASKED, "A").at(1, "a", QUEUED, "A").at(2, "b", ASKED, "B").at(10, "b", SERVED, "B", 5);
        at(20, "a", WITHDRAWN, "A");

        assertOnly(report().disorders(), report(), "claim B", "before claim A");
    }

    @Test
    void cutPushesExcuseDisorderForALeaseAndASecondNeverDelay() {
        at(0, "a", ASKED, "A").at(1, "a", QUEUED, "A").at(2, "b", ASKED, "B").at(3, "b", QUEUED, "B");
        at(9, "", PUSHES_CUT, "pushes").at(10, "b", SERVED, "B", 5).at(11, "a", SERVED, "A", 6);
        report().verify();

        at(4_010, "a", ASKED, "C").at(4_011, "a", QUEUED, "C").at(4_012, "b", ASKED, "D");
        at(4_013, "b", SERVED, "D", 7).at(4_014, "a", SERVED, "C", 8);
        assertOnly(report().disorders(), report(), "claim D", "before claim C");

        events.clear();
        hold("a", "1", 0, 10, 5).at(5, "b", INVOKED, "2").at(11, "", PUSHES_CUT, "pushes");
        at(2_500, "b", GRANTED, "2", 6).at(2_501, "b", RELEASED, "2");
        assertOnly(report().lostWakeups(), report(), "2 of 'k'");
    }

    @Test
    void anOrderThatNobodyCanKnowIsClean() {
        at(0, "a", ASKED, "A").at(5, "a", QUEUED, "A").at(2, "b", ASKED, "B").at(3, "b", QUEUED, "B");
        at(10, "b", SERVED, "B", 5).at(11, "a", SERVED, "A", 6);
        at(20, "c", ASKED, "C").at(21, "c", QUEUED, "C").at(22, "d", ASKED, "D");
        at(30, "c", WITHDRAWN, "C").at(31, "d", SERVED, "D", 7);

        report().verify();
    }

    @Test
    void aGrantWhoseNewsIsLateHasItsPlaceByItsToken() {
        at(0, "a", ASKED, "A").at(1, "a", QUEUED, "A").at(2, "b", ASKED, "B");
        at(10, "b", SERVED, "B", 6).at(11, "a", SERVED, "A", 5);

        report().verify();
    }

    @Test
    void aFlowWithoutAnEndAndAKeyLeftBehindAreLeaks() {
        at(0, "a", INVOKED, "1");
        assertOnly(report().leaks(), report(), "1 of 'k'", "still waits");

        at(1, "a", GRANTED, "1", 5);
        assertOnly(report().leaks(), report(), "still holds");

        at(2, "a", RELEASED, "1");
        assertOnly(report("{k}:queue").leaks(), report("{k}:queue"), "{k}:queue");
    }

    @Test
    void historiesOfSeveralFilesComeTogetherWithoutALineThatWasCutOff(@TempDir Path directory) throws IOException {
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        try (HistoryFile first = new HistoryFile(one);
                HistoryFile second = new HistoryFile(two)) {
            hold("a b\n", "1", 0, 10, 5).hold("é%", "2", 9, 20, 6);
            events.subList(0, 3).forEach(first);
            events.subList(3, 6).forEach(second);
        }
        Files.writeString(two, "12 c INVOKED k 3", StandardOpenOption.APPEND);

        assertThat(HistoryFile.read(List.of(one, two, directory.resolve("none"))))
                .containsExactlyElementsOf(events);
        assertThat(report().overlaps()).hasSize(1);
    }
}
