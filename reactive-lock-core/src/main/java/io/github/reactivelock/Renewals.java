package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Grants whose renewal is due, sent in batches that do not depend on one another. Safe for use from any thread. */
final class Renewals {

    private static final int BATCH = 500;

    private final Engine engine;
    private final Queue<Grant> due = new ConcurrentLinkedQueue<>();

    Renewals(Engine engine) {
        this.engine = engine;
    }

    void add(Grant grant) {
        due.add(grant);
    }

    /** Nothing while there is no connection: they would be sent late, and an answer then counts from when they were sent. */
    void send() {
        if (due.isEmpty() || !engine.gate.letsRenewals()) {
            return;
        }
        List<Grant> batch = nextBatch();
        while (!batch.isEmpty()) {
            send(batch);
            batch = nextBatch();
        }
    }

    private List<Grant> nextBatch() {
        List<Grant> batch = new ArrayList<>();
        Grant next = due.poll();
        while (next != null) {
            if (!next.isOver()) { // the line may have been long
                batch.add(next);
            }
            next = batch.size() < BATCH ? due.poll() : null;
        }
        return batch;
    }

    private void send(List<Grant> batch) {
        List<Claim> held = batch.stream().map(grant -> grant.claim).toList();
        long sentAt = engine.timing.now();
        batch.forEach(grant -> grant.sent(sentAt));
        engine.ask(
                () -> engine.backend.renew(held),
                answer -> batch.forEach(grant -> grant.answered(sentAt, answer)),
                failure -> batch.forEach(grant -> grant.failed(failure)));
    }
}
