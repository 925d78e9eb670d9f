package io.github.reactivelock.spring.boot;

import io.github.reactivelock.election.ElectionState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import reactor.core.publisher.Mono;

/** How the elections of this process stand: down if one of them has no leader for longer than a lease, or an error. */
final class ElectionHealthIndicator extends AbstractReactiveHealthIndicator {

    private final List<ElectionLifecycle> candidates;
    private final Duration lease;

    ElectionHealthIndicator(List<ElectionLifecycle> candidates, Duration lease) {
        this.candidates = List.copyOf(candidates);
        this.lease = lease;
    }

    @Override
    protected Mono<Health> doHealthCheck(Health.Builder builder) {
        builder.up();
        for (ElectionLifecycle candidate : candidates) {
            ElectionState state = candidate.election().state();
            if (isTrouble(state)) {
                builder.down();
            }
            builder.withDetail(candidate.election().key(), text(state));
        }
        return Mono.just(builder.build());
    }

    private boolean isTrouble(ElectionState state) {
        if (state instanceof ElectionState.Seeking seeking) {
            return seeking.cause() != null || seeking.since().plus(lease).isBefore(Instant.now());
        }
        return state instanceof ElectionState.Idle idle && idle.cause() != null;
    }

    private static String text(ElectionState state) {
        if (state instanceof ElectionState.Leading leading) {
            return "leads, term " + leading.leadership().term();
        }
        if (state instanceof ElectionState.Following following) {
            return "follows " + following.leader();
        }
        Throwable cause =
                state instanceof ElectionState.Seeking seeking ? seeking.cause() : ((ElectionState.Idle) state).cause();
        String what = state instanceof ElectionState.Seeking ? "no leader is known" : "does not campaign";
        return cause == null ? what : what + ": " + cause.getMessage();
    }
}
