package io.github.reactivelock.spring.boot;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;

/** Counts requests by what became of them; all counters are there from the beginning. */
final class IdempotencyMeters implements Consumer<IdempotencyOutcome> {

    private final Map<IdempotencyOutcome, Counter> counters = new EnumMap<>(IdempotencyOutcome.class);

    IdempotencyMeters(MeterRegistry registry) {
        for (IdempotencyOutcome outcome : IdempotencyOutcome.values()) {
            Counter counter = Counter.builder("reactive.lock.idempotency")
                    .description("Requests that may have an idempotency key")
                    .tag("outcome", outcome.word())
                    .register(registry);
            counters.put(outcome, counter);
        }
    }

    @Override
    public void accept(IdempotencyOutcome outcome) {
        Counter counter = counters.get(outcome);
        if (counter != null) {
            counter.increment();
        }
    }
}
