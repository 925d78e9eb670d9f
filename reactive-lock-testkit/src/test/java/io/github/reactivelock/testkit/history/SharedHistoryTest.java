package io.github.reactivelock.testkit.history;

import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.ASKED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.GAVE_UP;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.GRANTED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.INVOKED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.LOST;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.QUEUED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.RELEASED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.SERVED;
import static io.github.reactivelock.testkit.history.HistoryEvent.Kind.WITHDRAWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Histories of shared locks written by hand, in milliseconds; leases last three seconds. */
class SharedHistoryTest {

    private static final Share OF_THREE = Share.permits(1, 3);

    private final List<HistoryEvent> events = new ArrayList<>();

    private void at(long millis, Kind kind, String id, long token, Share share) {
        long nanos = Duration.ofMillis(millis).toNanos();
        long until = kind == GRANTED ? nanos + Duration.ofSeconds(3).toNanos() : 0;
        events.add(new HistoryEvent(nanos, "a", kind, "k", id, token, until, share));
    }

    private void waits(String id, long from, long to, Share share) {
        at(from, INVOKED, id, 0, share);
        at(to, GAVE_UP, id, 0, share);
    }

    private void hold(String id, long from, long to, long token, Share share) {
        at(from, INVOKED, id, 0, share);
        at(from, GRANTED, id, token, share);
        at(to, RELEASED, id, token, share);
    }

    private HistoryReport report() {
        return new HistoryChecker(Duration.ofSeconds(3)).check(events, List.of());
    }

    @Test
    void readersAndAWriterAfterThemAreCleanInAnyTokenOrder() {
        hold("writer", 0, 10, 1, Share.WHOLE);
        hold("one", 10, 30, 3, Share.ONE);
        hold("two", 20, 40, 2, Share.ONE);
        hold("next writer", 40, 50, 4, Share.WHOLE);

        report().verify();
        assertThat(report().acquisitions()).isEqualTo(4);
        assertThat(report().shares()).isEqualTo(2);
    }

    @Test
    void aReaderBesideAWriterIsFoundWhicheverCameFirst() {
        hold("writer", 0, 10, 1, Share.WHOLE);
        hold("reader", 9, 20, 2, Share.ONE);
        assertThat(report().overlaps())
                .singleElement()
                .asString()
                .contains("reader of 'k'", "1000 us", "writer of 'k'");

        hold("next writer", 19, 30, 3, Share.WHOLE);
        assertThat(report().overlaps()).hasSize(2);
        assertThat(report().shareOverlaps()).isEqualTo(2);
        assertThat(report().isClean()).isFalse();
    }

    @Test
    void aWriterBesideOneOfManyReadersIsFoundThoughAnotherEndedAfterIt() {
        hold("long", 0, 100, 1, Share.ONE);
        hold("short", 5, 10, 2, Share.ONE);
        hold("writer", 50, 60, 3, Share.WHOLE);

        assertThat(report().overlaps()).singleElement().asString().contains("writer of 'k'", "50000 us", "long of 'k'");
    }

    @Test
    void aReaderThatWakesAfterItsDeadlineDoesNotOverlapTheWriter() {
        at(0, INVOKED, "reader", 0, Share.ONE);
        at(0, GRANTED, "reader", 1, Share.ONE);
        at(9_000, LOST, "reader", 1, Share.ONE);
        hold("writer", 3_000, 3_010, 2, Share.WHOLE);
        assertThat(report().overlaps()).isEmpty();

        hold("earlier", 2_999, 3_000, 2, Share.WHOLE);
        assertThat(report().overlaps()).singleElement().asString().contains("earlier of 'k'");
    }

    @Test
    void onePermitMoreThanThereAreIsFound() {
        hold("1", 0, 100, 1, OF_THREE);
        hold("2", 0, 100, 2, Share.permits(2, 3));
        assertThat(report().overlaps()).isEmpty();

        hold("3", 99, 110, 3, OF_THREE);
        assertThat(report().overlaps())
                .singleElement()
                .asString()
                .contains("3 of 'k'", "1 of 3 permits", "2 holds of 3 units");
        assertThat(report().shareOverlaps()).isEqualTo(1);
    }

    @Test
    void eachRequestIsJudgedByItsOwnCapacity() {
        hold("1", 0, 100, 1, OF_THREE);
        hold("2", 10, 100, 2, Share.permits(1, 2));
        hold("3", 20, 30, 3, OF_THREE);
        assertThat(report().overlaps()).isEmpty();

        hold("4", 40, 50, 4, Share.permits(1, 2));
        assertThat(report().overlaps()).singleElement().asString().contains("4 of 'k'");
    }

    @Test
    void aSharesTokenBelowTheWriterOrTakenTwiceIsFound() {
        hold("writer", 0, 10, 5, Share.WHOLE);
        hold("one", 10, 30, 6, Share.ONE);
        hold("same", 10, 30, 6, Share.ONE);
        assertThat(report().tokenRegressions()).singleElement().asString().contains("token 6");

        hold("low", 20, 30, 5, Share.ONE);
        hold("next writer", 30, 40, 6, Share.WHOLE);
        assertThat(report().tokenRegressions()).hasSize(3);
    }

    @Test
    void aReaderThatWaitsBesideReadersThoughNoWriterWaitsIsFound() {
        hold("in", 0, 2_900, 1, Share.ONE);
        waits("kept out", 10, 2_100, Share.ONE);

        assertThat(report().lostWakeups()).singleElement().asString().contains("kept out of 'k'", "2090 ms");
    }

    @Test
    void aReaderThatWaitsBehindAWriterIsClean() {
        hold("in", 0, 2_900, 1, Share.ONE);
        waits("writer", 5, 2_900, Share.WHOLE);
        waits("behind it", 10, 2_900, Share.ONE);

        report().verify();
    }

    @Test
    void aWriterThatLeavesAndLeavesAReaderWaitingIsFound() {
        hold("in", 0, 2_900, 1, Share.ONE);
        waits("writer", 5, 500, Share.WHOLE);
        waits("forgotten", 10, 2_600, Share.ONE);

        assertThat(report().lostWakeups()).singleElement().asString().contains("forgotten of 'k'", "2100 ms");
    }

    @Test
    void aPermitFreeBesideAWaiterIsFoundAndOneTooFewIsClean() {
        hold("1", 0, 2_900, 1, OF_THREE);
        hold("2", 0, 2_900, 2, OF_THREE);
        waits("for two", 5, 2_900, Share.permits(2, 3));
        waits("behind it", 5, 2_900, OF_THREE);
        report().verify();

        events.clear();
        hold("1", 0, 2_900, 1, OF_THREE);
        hold("2", 0, 2_900, 2, OF_THREE);
        waits("for one", 5, 2_900, OF_THREE);
        assertThat(report().lostWakeups()).singleElement().asString().contains("for one of 'k'");
    }

    @Test
    void anOvertakingShareIsFoundByTokensAndAnUnheardGrantIsClean() {
        at(0, ASKED, "A", 0, Share.ONE);
        at(1, QUEUED, "A", 0, Share.WHOLE);
        at(2, ASKED, "B", 0, Share.ONE);
        at(10, SERVED, "B", 5, Share.WHOLE);
        at(20, WITHDRAWN, "A", 0, Share.WHOLE);
        report().verify();

        at(19, SERVED, "A", 6, Share.WHOLE);
        assertThat(report().disorders()).singleElement().asString().contains("claim B", "before claim A");
    }

    @Test
    void aReaderThatOvertakesAWriterThatIsNeverServedIsFound() {
        at(0, ASKED, "A", 0, Share.WHOLE);
        at(1, QUEUED, "A", 0, Share.WHOLE);
        at(2, ASKED, "B", 0, Share.ONE);
        at(10, SERVED, "B", 5, Share.WHOLE);
        at(20, WITHDRAWN, "A", 0, Share.WHOLE);

        assertThat(report().disorders()).singleElement().asString().contains("claim B", "before claim A");
    }

    @Test
    void sharesAreReadFromAFileAsTheyWereWritten(@TempDir Path directory) {
        hold("1", 0, 10, 1, Share.permits(2, 3));
        hold("2", 20, 30, 2, Share.ONE);
        hold("3", 40, 50, 3, Share.WHOLE);
        Path file = directory.resolve("history");
        try (HistoryFile written = new HistoryFile(file)) {
            events.forEach(written);
        }

        assertThat(HistoryFile.read(List.of(file))).containsExactlyElementsOf(events);
    }

    @Test
    void aClientThatSharesIsRecordedWithItsShare() {
        Queue<HistoryEvent> recorded = new ConcurrentLinkedQueue<>();
        History history = new History("client", recorded::add);
        LockClient lock = LockClient.create(history.observe(InMemoryLockBackend.create()));

        history.withLock(lock.permits(2, 3), "k", held -> Mono.fromCallable(held::isHeld))
                .then(lock.close())
                .block(Duration.ofSeconds(60));

        assertThat(recorded)
                .filteredOn(event -> List.of(INVOKED, GRANTED).contains(event.kind()))
                .extracting(HistoryEvent::share)
                .containsOnly(Share.permits(2, 3))
                .hasSize(2);
        HistoryReport report = new HistoryChecker(Duration.ofSeconds(3)).check(recorded, List.of());
        report.verify();
        assertThat(report.shares()).isEqualTo(1);
    }
}
