package io.github.reactivelock.engine.store;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.publisher.Mono;

/** Grants whose renewal is due, sent in batches that do not depend on one another. Safe for use from any thread. */
public final class Renewals {

    /** A grant, as far as its renewal is concerned. */
    public interface Due {
        Claim claim();

        /** It need not be renewed any more. */
        boolean isOver();

        void sent(long at);

        void answered(long sentAt, RenewalResult answer);

        void failed(Throwable cause);
    }

    private static final int BATCH = 500;

    private final Gate gate;
    private final Queue<Due> due = new ConcurrentLinkedQueue<>();

    Renewals(Gate gate) {
        this.gate = gate;
        gate.letFirst(this::send);
    }

    public void add(Due grant) {
        due.add(grant);
    }

    /**
     * Nothing while there is no connection: they would be sent late, and an answer then counts from when they were
     * sent.
     */
    public void send() {
        if (due.isEmpty() || !gate.letsRenewals()) {
            return;
        }
        List<Due> batch = nextBatch();
        while (!batch.isEmpty()) {
            send(batch);
            batch = nextBatch();
        }
    }

    private List<Due> nextBatch() {
        List<Due> batch = new ArrayList<>();
        Due next = due.poll();
        while (next != null) {
            if (!next.isOver()) { // the queue may have been long
                batch.add(next);
            }
            next = batch.size() < BATCH ? due.poll() : null;
        }
        return batch;
    }

    private void send(List<Due> batch) {
        List<Claim> held = batch.stream().map(Due::claim).toList();
        long sentAt = gate.timing.now();
        batch.forEach(grant -> grant.sent(sentAt));
        gate.ask(new StoreAnswer<RenewalResult>() {
            @Override
            public Gate gate() {
                return gate;
            }

            @Override
            public Mono<RenewalResult> question() {
                return gate.backend.renew(held);
            }

            @Override
            public void answered(RenewalResult answer) {
                batch.forEach(grant -> grant.answered(sentAt, answer));
            }

            @Override
            public void failed(Throwable failure) {
                batch.forEach(grant -> grant.failed(failure));
            }
        });
    }
}
