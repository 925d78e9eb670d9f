package io.github.reactivelock.examples.verticle;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands for the database and the printer. Both are slow and have no lock. */
final class Office {

    private static final int READING_MILLIS = 20;
    private static final int PRINTING_MILLIS = 40;

    private final Vertx vertx;
    private final Map<Integer, AtomicInteger> printed = new ConcurrentHashMap<>();
    private final AtomicInteger atThePrinter = new AtomicInteger();
    private final AtomicInteger collisions = new AtomicInteger();

    Office(Vertx vertx) {
        this.vertx = vertx;
    }

    Future<Boolean> isPrinted(int invoice) {
        boolean was = printed.containsKey(invoice);
        return vertx.timer(READING_MILLIS).map(read -> was);
    }

    Future<Void> print(int invoice) {
        if (atThePrinter.incrementAndGet() > 1) {
            collisions.incrementAndGet();
        }
        return vertx.timer(PRINTING_MILLIS).map(done -> {
            atThePrinter.decrementAndGet();
            printed.computeIfAbsent(invoice, first -> new AtomicInteger()).incrementAndGet();
            return null;
        });
    }

    String report() {
        int sheets = printed.values().stream().mapToInt(AtomicInteger::get).sum();
        return sheets + " sheets for " + printed.size() + " invoices, " + collisions + " collisions at the printer";
    }
}
