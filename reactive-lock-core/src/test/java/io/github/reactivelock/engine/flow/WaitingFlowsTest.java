package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.cohort.EngineInside;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** Who waits in a cohort, in order, wherever they leave. */
class WaitingFlowsTest {

    private final Bench bench = new Bench();
    private final List<Waiter> departed = new ArrayList<>();
    private final WaitingFlows line = new WaitingFlows(() -> departed.add(null));
    private final Waiter a = flow(Duration.ofSeconds(30));
    private final Waiter b = flow(Duration.ofSeconds(30));
    private final Waiter c = flow(Duration.ofSeconds(5));
    private final Waiter d = flow(Duration.ofSeconds(30));

    private Waiter flow(Duration lease) {
        return new Waiter(bench.engine, "k", LockOptions.defaults().withLease(lease), Claim.Mode.QUEUE) {
            @Override
            public void granted(Handle handle) {}

            @Override
            void joined(Handle handle) {}

            @Override
            void failed(RuntimeException failure) {}

            @Override
            public ContextView context() {
                return Context.empty();
            }
        };
    }

    private List<Waiter> ended() {
        List<Waiter> ended = new ArrayList<>();
        line.endAll(ended::add);
        return ended;
    }

    @Test
    void theyStandInTheOrderInWhichTheyCame() {
        List.of(a, b, c, d).forEach(line::add);

        assertThat(line.first()).isSameAs(a);
        assertThat(ended()).containsExactly(a, b, c, d);
        assertThat(departed).hasSize(4);
        assertThat(line.first()).isNull();
        assertThat(line.wanted()).isNull();
    }

    @Test
    void eachIsFoundAtItsPlace() {
        List.of(a, b, c, d).forEach(line::add);

        assertThat(IntStream.range(0, 4).mapToObj(line::at)).containsExactly(a, b, c, d);
        assertThat(line.leave(b)).isTrue();
        assertThat(IntStream.range(0, 3).mapToObj(line::at)).containsExactly(a, c, d);
    }

    @Test
    void eachMayLeaveOnceAndTheOthersKeepTheirOrder() {
        List.of(a, b, c, d).forEach(line::add);

        assertThat(line.leave(c)).isTrue();
        assertThat(line.leave(c)).isFalse();
        assertThat(line.leave(a)).isTrue();
        assertThat(line.leave(a)).isFalse();

        assertThat(departed).hasSize(2);
        assertThat(line.first()).isSameAs(b);
        line.add(a);
        assertThat(ended()).containsExactly(b, d, a);
    }

    @Test
    void asManyEndAsAreToAndThoseWhoCameLastDo() {
        List.of(a, b, c, d).forEach(line::add);
        List<Waiter> refused = new ArrayList<>();

        line.endLast(2, refused::add);
        assertThat(refused).containsExactly(c, d);
        assertThat(line.at(2)).isNull();
        line.endLast(3, refused::add);

        assertThat(refused).containsExactly(c, d, a, b);
        assertThat(line.first()).isNull();
    }

    @Test
    void aLineThatWasEmptyBeginsAnew() {
        line.add(a);
        line.add(b);
        assertThat(line.leave(b)).isTrue();
        assertThat(line.leave(a)).isTrue();
        assertThat(line.first()).isNull();

        line.add(d);
        line.add(c);

        assertThat(ended()).containsExactly(d, c);
    }

    @Test
    void onlyThoseEndWhoWantWhatAClaimAskedFor() {
        List.of(a, c, b, d).forEach(line::add);
        List<Waiter> refused = new ArrayList<>();

        Claim claim = EngineInside.claimOf(bench.engine, d);
        line.endThoseOf(options -> ClaimOptions.suit(options, claim, Duration.ZERO), refused::add);

        assertThat(refused).containsExactly(a, b, d);
        assertThat(departed).hasSize(3);
        assertThat(ended()).containsExactly(c);
    }
}
