package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release that was carried out, and whose answer was lost. */
class LostReleaseTest extends Fixture {

    private static final Duration TIMEOUT = Duration.ofSeconds(8);

    private TcpProxy proxy;

    @BeforeEach
    void putAProxyBetween() {
        proxy = TcpProxy.to(server.port());
    }

    @AfterEach
    void removeTheProxy() {
        // Those behind it end their sessions through it.
        closeAll();
        proxy.close();
    }

    private ConsulLockBackend asking(String agents) {
        ConsulLockBackend backend =
                opened(ConsulLockBackend.connect(agents, Consuls.patient().withCommandTimeout(TIMEOUT)));
        Consuls.done(backend.ready().retry());
        return backend;
    }

    private ConsulLockBackend behindTheProxy() {
        return asking("127.0.0.1:" + proxy.port());
    }

    private ConsulLockBackend behindTheProxyAndBesideIt() {
        return asking("127.0.0.1:" + proxy.port() + "," + server.uri());
    }

    private void untilItIsCarriedOut() {
        ConsulLockBackend another = backend();
        Consuls.until(
                "it is carried out", () -> Consuls.get(another.inspect(key)).isFree());
    }

    @Test
    void saidAgainItIsStillTheEndOfAHold() {
        ConsulLockBackend backend = behindTheProxy();
        Claim owner = claim();
        granted(Consuls.get(backend.claim(owner).retry()));

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered = backend.release(owner).toFuture();
        untilItIsCarriedOut();
        assertThat(unanswered).failsWithin(Consuls.LIMIT);
        proxy.mend();

        assertThat(Consuls.get(backend.release(owner).retry())).isTrue();
        assertThat(Consuls.get(backend.release(owner).retry())).isFalse();
    }

    @Test
    void oneThatItsCallerGaveUpIsStillTheEndOfAHold() {
        ConsulLockBackend backend = behindTheProxy();
        Claim owner = claim();
        granted(Consuls.get(backend.claim(owner).retry()));

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered =
                backend.release(owner).timeout(Duration.ofMillis(300)).toFuture();
        untilItIsCarriedOut();
        assertThat(unanswered).failsWithin(Consuls.LIMIT);
        proxy.mend();

        assertThat(Consuls.get(backend.release(owner).retry())).isTrue();
    }

    @Test
    void oneThatTheNextAgentFindsCarriedOutIsNotKnownAndNoLoss() {
        ConsulLockBackend backend = behindTheProxyAndBesideIt();
        Claim owner = claim();
        granted(Consuls.get(backend.claim(owner).retry()));

        proxy.dropReplies();
        assertThat(Consuls.error(backend.release(owner)))
                .hasMessageContaining("it is not known whether '" + key + "' was still held");

        assertThat(Consuls.get(backend.release(owner).retry())).isTrue();
    }

    @Test
    void aForcedOneThatTheNextAgentFindsCarriedOutIsNotKnown() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend operator = asking(agent.address() + "," + server.uri());
            ConsulLockBackend holder = backend();
            Claim held = claim();
            long token = granted(Consuls.get(holder.claim(held)));
            agent.holdUpAnswersToDeletions();

            assertThat(Consuls.error(operator.forceRelease(key, token)))
                    .hasMessageContaining("it is not known whether '" + key + "' was still held");

            assertThat(Consuls.get(holder.release(held))).isFalse();
            closeAll();
        }
    }
}
