package io.github.reactivelock.quorum;

import static io.github.reactivelock.quorum.ThreeStores.LIMIT;
import static io.github.reactivelock.quorum.ThreeStores.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A claim that two of three nodes have granted, and whose question comes late to the third one. */
class LateVoteTest {

    private final ThreeStores three = new ThreeStores();
    private final Sinks.Empty<Void> arrival = Sinks.empty();
    private final QuorumLockBackend quorum = three.quorum(three.store(0), three.store(1), votingLate(three.store(2)));
    private final QuorumLockBackend operator = three.site().quorum;
    private final Claim owner = claim("owner");

    private QuorumNode votingLate(QuorumNode node) {
        return (QuorumNode) Proxy.newProxyInstance(
                QuorumNode.class.getClassLoader(), new Class<?>[] {QuorumNode.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(node, arguments);
                    return method.getName().equals("vote") ? arrival.asMono().then((Mono<?>) answer) : answer;
                });
    }

    private long granted(QuorumLockBackend by, Claim claim) {
        ClaimResult answer = by.claim(claim).blockOptional(LIMIT).orElseThrow();
        assertThat(answer).isInstanceOf(ClaimResult.Granted.class);
        return ((ClaimResult.Granted) answer).fencingToken();
    }

    /** The vote that comes then would have the token of the grant that is over. */
    @Test
    void aForcedReleaseThatOvertookAVoteEndsNothingWhenItIsSaidAgain() {
        three.allHaveBeenUpForLong();
        long token = granted(quorum, owner);
        assertThat(operator.forceRelease("k", token).block(LIMIT)).isTrue();

        arrival.tryEmitEmpty().orThrow();

        assertThat(three.store(2).inspect("k").block(LIMIT))
                .isNotNull()
                .satisfies(info -> assertThat(info.held()).isPresent());
        Claim successor = claim("successor");
        assertThat(granted(operator, successor)).isGreaterThan(token);
        assertThat(operator.forceRelease("k", token).block(LIMIT)).isFalse();
        assertThat(operator.renew(List.of(successor))
                        .blockOptional(LIMIT)
                        .orElseThrow()
                        .renewed())
                .containsExactly("successor");
    }
}
