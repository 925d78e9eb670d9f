package io.github.reactivelock.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * What came of a run.
 *
 * @param trace two runs with the same did the same
 * @param events how many
 * @param acquisitions how many
 * @param overlaps two inside at once
 * @param regressions tokens that did not rise
 * @param lostWakeups somebody waited for a lock that was free
 * @param leaks what was left
 * @param untold of a hold that was lost, or of its end
 * @param unavailable failed or lost though nothing was broken near
 */
record Result(
        long trace,
        long events,
        long acquisitions,
        List<String> overlaps,
        List<String> regressions,
        List<String> lostWakeups,
        List<String> leaks,
        List<String> untold,
        List<String> unavailable) {

    boolean isRight() {
        return wrong().isEmpty();
    }

    List<String> wrong() {
        List<String> all = new ArrayList<>();
        overlaps.forEach(what -> all.add("overlap: " + what));
        regressions.forEach(what -> all.add("token: " + what));
        lostWakeups.forEach(what -> all.add("lost wake-up: " + what));
        leaks.forEach(what -> all.add("leak: " + what));
        untold.forEach(what -> all.add("untold: " + what));
        unavailable.forEach(what -> all.add("unavailable: " + what));
        return all;
    }
}
