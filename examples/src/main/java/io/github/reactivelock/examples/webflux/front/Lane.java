package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.webflux.shop.LockUse;
import io.github.reactivelock.examples.webflux.shop.LockUse.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the instances say of one item, put together for the page. */
final class Lane {

    private static final int SHOWN = 6;
    /** A shorter wait means that the lock was free, in microseconds. */
    private static final long AT_ONCE = 100_000;

    private Lane() {}

    /**
     * What one instance says.
     *
     * @param instance which
     * @param use a wait or a hold
     * @param killedAt when the instance was killed under this hold; 0 if it was not
     */
    record Row(String instance, LockUse use, long killedAt) {

        boolean wasKilled() {
            return killedAt != 0;
        }
    }

    static View.Lane of(Item item, List<Row> rows) {
        List<View.Waiting> waiting = rows.stream()
                .filter(row -> row.use().state() == State.WAITS)
                .sorted(Comparator.comparingLong(row -> row.use().asked()))
                .map(row -> new View.Waiting(row.instance(), row.use().number()))
                .toList();
        List<Row> holds = rows.stream()
                .filter(row -> row.use().token() != 0)
                .sorted(Comparator.comparingLong((Row row) -> row.use().token()).reversed())
                .toList();
        boolean atRisk = holds.stream()
                .anyMatch(row -> row.use().state() == State.AT_RISK && row.use().token() == item.token());
        return new View.Lane(
                item.item(),
                item.holder(),
                item.token() == 0 ? "" : Long.toString(item.token()),
                atRisk,
                item.sold(),
                item.moves(),
                waiting,
                served(holds));
    }

    private static List<View.Served> served(List<Row> holds) {
        List<View.Served> served = new ArrayList<>();
        for (int i = 0; i < Math.min(SHOWN, holds.size()); i++) {
            served.add(served(holds.get(i), i + 1 < holds.size() ? holds.get(i + 1) : null));
        }
        return served;
    }

    private static View.Served served(Row row, @Nullable Row before) {
        String token = Long.toString(row.use().token());
        return before == null || !follows(row.use(), before)
                ? new View.Served(row.instance(), token, end(row), null, null)
                : new View.Served(row.instance(), token, end(row), before.instance(), millis(row.use(), before));
    }

    /** Whether somebody waited for the end of the hold before, instead of finding the lock free. */
    private static boolean follows(LockUse use, Row before) {
        if (before.wasKilled()) {
            return use.from() - use.asked() > AT_ONCE;
        }
        long end = before.use().to();
        return end == 0 || before.use().state() == State.LOST || use.asked() < end;
    }

    /** Null if the end of the hold before is not known: its instance stands still, or learned of its loss late. */
    private static @Nullable Double millis(LockUse use, Row before) {
        long end = before.wasKilled() ? before.killedAt() : before.use().to();
        return end == 0 || before.use().state() == State.LOST ? null : Math.max(0, use.from() - end) / 1e3;
    }

    private static String end(Row row) {
        if (row.wasKilled()) {
            return "killed";
        }
        return switch (row.use().state()) {
            case WAITS -> "waits";
            case HOLDS -> "holds";
            case AT_RISK -> "at risk";
            case RELEASED -> "released";
            case LOST -> "lost: " + row.use().note();
        };
    }
}
