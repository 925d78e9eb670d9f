package io.github.reactivelock.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {

    private static final Ledger EXACT = new Ledger(100, 0, 100);

    @Test
    void exactLockedRoundsHaveNoFaultsHoweverTheUnlockedOneWent() {
        Report report = report(new Ledger(100, 40, 700), EXACT, EXACT);

        assertThat(report.faults()).isEmpty();
        assertThat(report.summary()).isEqualTo("sold=100 oversold=0 lost=0 acquisitions=4000 p50_ms=3.0 p99_ms=3.0");
    }

    @Test
    void anOversoldLockedRoundIsAFaultAndIsTheOneShown() {
        Report report = report(EXACT, EXACT, new Ledger(100, 0, 101));

        assertThat(report.faults()).singleElement().asString().contains("3: with the lock", "sold 101 instead of 100");
        assertThat(report.summary()).startsWith("sold=101 oversold=1 lost=1 ");
    }

    @Test
    void anUndersoldLockedRoundIsAFault() {
        Report report = report(EXACT, new Ledger(100, 1, 99), EXACT);

        assertThat(report.faults()).singleElement().asString().contains("2: with the lock", "sold 99 instead of 100");
        assertThat(report.summary()).startsWith("sold=99 oversold=0 lost=0 ");
    }

    @Test
    void anOverwrittenUpdateIsAFaultEvenIfTheNumberOfReceiptsIsRight() {
        Report report = report(EXACT, new Ledger(100, 1, 100), EXACT);

        assertThat(report.faults()).singleElement().asString().contains("lost 1 updates");
        assertThat(report.summary()).startsWith("sold=100 oversold=0 lost=1 ");
    }

    @Test
    void aLedgerCountsReceiptsAndComparesThemWithTheStockThatIsLeft() {
        Ledger ledger =
                Ledger.of(2, Map.of("token", "7", "left", "1", "receipt:1", "2", "receipt:2", "2", "receipt:3", "1"));

        assertThat(ledger).isEqualTo(new Ledger(2, 1, 3));
        assertThat(ledger.oversold()).isEqualTo(1);
        assertThat(ledger.lost()).isEqualTo(2);
    }

    @Test
    void theTableHasALineForEachRound() {
        assertThat(report(EXACT, EXACT, EXACT).table().lines()).hasSize(4);
    }

    private static Report report(Ledger unlocked, Ledger locked, Ledger killed) {
        return new Report(
                List.of(result(Round.UNLOCKED, unlocked), result(Round.LOCKED, locked), result(Round.KILLED, killed)),
                2_000,
                100);
    }

    private static Result result(Round round, Ledger ledger) {
        return new Result(round, Collections.nCopies(2_000, Duration.ofMillis(3)), ledger, Duration.ofSeconds(2));
    }
}
