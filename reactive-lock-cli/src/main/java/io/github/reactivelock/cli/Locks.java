package io.github.reactivelock.cli;

import io.github.reactivelock.state.LockInfo;
import java.util.List;

/** A lock as it is shown: as lines for people, or as an object of JSON. */
final class Locks {

    private Locks() {}

    static List<String> lines(LockInfo lock) {
        if (!(lock instanceof LockInfo.Held held)) {
            Table facts = new Table();
            facts.row("key", lock.key());
            facts.row("state", "free");
            return facts.lines();
        }
        Table facts = new Table();
        facts.row("key", held.key());
        LockInfo.Shares shares = held.shares();
        facts.row("state", shares == null ? "held" : "shared by " + shares.holders() + ", units " + shares.units());
        facts.row("owner", held.owner());
        if (held.recallable()) {
            facts.row("recallable", "its client may keep it while no flow there is in");
        }
        facts.row("token", token(held));
        facts.row("held for", Durations.shown(held.age()));
        facts.row("lease left", Durations.shown(held.remaining()));
        facts.row("waiters", Long.toString(held.waiters()));
        int holders = 0;
        for (LockInfo.Holder holder : shares == null ? List.<LockInfo.Holder>of() : shares.first()) {
            holders++;
            facts.row(
                    "holder " + holders,
                    holder.owner() + ", token " + holder.fencingToken() + ", units " + holder.units() + ", lease left "
                            + Durations.shown(holder.remaining()));
        }
        int number = 0;
        for (LockInfo.Waiting waiting : held.queue()) {
            number++;
            String age = waiting.age() == null ? "" : ", for " + Durations.shown(waiting.age());
            facts.row("waiter " + number, waiting.owner() + age);
        }
        return facts.lines();
    }

    static List<String> lines(List<LockInfo.Held> locks) {
        Table table = new Table();
        table.row("KEY", "OWNER", "HELD FOR", "LEASE LEFT", "WAITERS", "TOKEN");
        for (LockInfo.Held held : locks) {
            table.row(
                    held.key(),
                    held.owner() + others(held),
                    Durations.shown(held.age()),
                    Durations.shown(held.remaining()),
                    Long.toString(held.waiters()),
                    token(held));
        }
        return table.lines();
    }

    private static String others(LockInfo.Held held) {
        LockInfo.Shares shares = held.shares();
        return shares == null || shares.holders() < 2 ? "" : " and " + (shares.holders() - 1) + " more";
    }

    static Json json(LockInfo lock) {
        Json json = new Json().with("key", lock.key()).with("held", lock.isHeld());
        if (!(lock instanceof LockInfo.Held held)) {
            return json;
        }
        Json known = json.with("owner", held.owner())
                .with("token", token(held))
                .with("heldMillis", Durations.millis(held.age()))
                .with("leaseLeftMillis", Durations.millis(held.remaining()))
                .with("waiters", held.waiters())
                .with("queue", held.queue().stream().map(Locks::json).toList());
        if (held.recallable()) {
            return known.with("recallable", true);
        }
        LockInfo.Shares shares = held.shares();
        return shares == null
                ? known
                : known.with("units", shares.units())
                        .with("holders", shares.holders())
                        .with("shares", shares.first().stream().map(Locks::json).toList());
    }

    private static Json json(LockInfo.Holder holder) {
        return new Json()
                .with("owner", holder.owner())
                .with("token", Long.toString(holder.fencingToken()))
                .with("units", holder.units())
                .with("leaseLeftMillis", Durations.millis(holder.remaining()));
    }

    private static Json json(LockInfo.Waiting waiting) {
        return new Json().with("owner", waiting.owner()).with("waitingMillis", Durations.millis(waiting.age()));
    }

    /** A text, also in JSON: programs that take every number for a double would change it. */
    private static String token(LockInfo.Held held) {
        return Long.toString(held.fencingToken());
    }
}
