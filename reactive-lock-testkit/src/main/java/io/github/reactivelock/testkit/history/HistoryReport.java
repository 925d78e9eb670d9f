package io.github.reactivelock.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is wrong with a history, each case in words; five empty lists if nothing is.
 *
 * @param acquisitions how many flows got their lock
 * @param shares how many of them a share of it
 * @param overlaps two holders at once, or more units in use than the share of the later one lets be
 * @param shareOverlaps how many of the overlaps are of a share
 * @param tokenRegressions a grant whose token is not higher than an earlier one's
 * @param lostWakeups a lock that stayed free although a flow waited
 * @param disorders a claim that was served before one that had queued before it
 * @param leaks flows that never ended, and what is left at the store
 */
public record HistoryReport(
        long acquisitions,
        long shares,
        List<String> overlaps,
        long shareOverlaps,
        List<String> tokenRegressions,
        List<String> lostWakeups,
        List<String> disorders,
        List<String> leaks) {

    /**
     * Takes unmodifiable copies.
     *
     * @param acquisitions how many flows got their lock
     * @param shares how many of them a share of it
     * @param overlaps two holders at once, or more units in use than the share of the later one lets be
     * @param shareOverlaps how many of the overlaps are of a share
     * @param tokenRegressions a grant whose token is not higher than an earlier one's
     * @param lostWakeups a lock that stayed free although a flow waited
     * @param disorders a claim that was served before one that had queued before it
     * @param leaks flows that never ended, and what is left at the store
     */
    public HistoryReport {
        overlaps = List.copyOf(overlaps);
        tokenRegressions = List.copyOf(tokenRegressions);
        lostWakeups = List.copyOf(lostWakeups);
        disorders = List.copyOf(disorders);
        leaks = List.copyOf(leaks);
    }

    /**
     * Whether nothing is wrong.
     *
     * @return true if all lists are empty
     */
    public boolean isClean() {
        return Stream.of(overlaps, tokenRegressions, lostWakeups, disorders, leaks)
                .allMatch(List::isEmpty);
    }

    /** Throws {@link AssertionError} with the first cases of each kind if anything is wrong. */
    public void verify() {
        if (!isClean()) {
            throw new AssertionError("not the history of a lock, after " + acquisitions + " acquisitions: "
                    + Map.of(
                                    "overlaps", overlaps,
                                    "token regressions", tokenRegressions,
                                    "lost wake-ups", lostWakeups,
                                    "disorders", disorders,
                                    "leaks", leaks)
                            .entrySet()
                            .stream()
                            .filter(kind -> !kind.getValue().isEmpty())
                            .map(kind -> kind.getValue().size() + " " + kind.getKey() + ", such as\n  "
                                    + kind.getValue().stream().limit(5).collect(Collectors.joining("\n  ")))
                            .sorted()
                            .collect(Collectors.joining("\n")));
        }
    }
}
