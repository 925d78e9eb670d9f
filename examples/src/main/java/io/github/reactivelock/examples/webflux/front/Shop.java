package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.webflux.shop.Activity;
import io.github.reactivelock.examples.webflux.shop.LockUse;
import io.github.reactivelock.examples.webflux.shop.LockUse.State;
import java.util.List;
import java.util.Locale;

/**
 * An instance of the shop as the page knows it. Immutable.
 *
 * @param name as the locks show it
 * @param status what it does
 * @param address where it answers; empty before
 * @param activity what its locks do, as it said last
 */
record Shop(String name, Status status, String address, Activity activity) {

    private static final String LOST = "reactive.lock.lost";

    /** What an instance does. */
    enum Status {
        STARTING,
        RUNNING,
        PAUSED,
        ENDED
    }

    static Shop ended(String name) {
        return new Shop(name, Status.ENDED, "", Activity.NONE);
    }

    Shop in(Status now) {
        return new Shop(name, now, address, activity);
    }

    Shop at(String where) {
        return new Shop(name, Status.RUNNING, where, activity);
    }

    Shop told(Activity now) {
        return new Shop(name, status, address, now);
    }

    boolean runs() {
        return status == Status.RUNNING || status == Status.PAUSED;
    }

    List<LockUse> held() {
        return activity.uses().stream().filter(LockUse::isHeld).toList();
    }

    View.Instance view() {
        return new View.Instance(
                name,
                status.name().toLowerCase(Locale.ROOT),
                address,
                count(State.WAITS),
                held().size(),
                count(State.AT_RISK),
                activity.metrics().getOrDefault(LOST, 0.0).longValue(),
                activity.metrics());
    }

    private long count(State state) {
        return activity.uses().stream().filter(use -> use.state() == state).count();
    }
}
