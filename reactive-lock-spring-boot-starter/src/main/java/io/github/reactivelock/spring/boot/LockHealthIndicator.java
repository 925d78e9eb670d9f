package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import reactor.core.publisher.Mono;

/**
 * Whether locks can be had: unknown before the first lock is asked for, because until then nothing is connected; after
 * that up if the store answers a question that changes nothing, and down with the reason if it does not or if it
 * refuses to push. Where pushes do not arrive and grants are looked for, it is up, and says why they do not.
 */
final class LockHealthIndicator extends AbstractReactiveHealthIndicator {

    private final LockClient client;
    private final @Nullable LocalLocks local;

    /** Asks the store from the beginning if nothing is known of the application's own locks. */
    LockHealthIndicator(LockClient client, @Nullable LocalLocks local) {
        super("the store of the locks cannot be asked");
        this.client = client;
        this.local = local;
    }

    @Override
    protected Mono<Health> doHealthCheck(Health.Builder builder) {
        if (local == null) {
            return client.ready()
                    .then(Mono.fromSupplier(() -> looking(builder.up()).build()));
        }
        if (!local.wasAsked()) {
            return Mono.just(builder.unknown()
                    .withDetail("reason", "no lock has been asked for yet")
                    .build());
        }
        return client.ready().then(Mono.fromSupplier(() -> answered(builder, local)));
    }

    private Health answered(Health.Builder builder, LocalLocks local) {
        LockException refusal = local.refusal();
        return looking(refusal == null ? builder.up() : builder.down(refusal))
                .withDetail("held", local.held().size())
                .withDetail("waiting", local.waiting().size())
                .build();
    }

    private Health.Builder looking(Health.Builder builder) {
        client.whyNotPushed().ifPresent(why -> builder.withDetail("notPushed", why));
        return builder;
    }
}
