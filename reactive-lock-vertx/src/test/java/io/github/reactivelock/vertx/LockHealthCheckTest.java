package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.testkit.ForwardingBackend;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.ext.healthchecks.CheckResult;
import io.vertx.ext.healthchecks.HealthChecks;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LockHealthCheckTest extends ClientFixture {

    @Test
    void aStoreThatAnswersIsUp() {
        assertThat(CheckResult.isUp(check(lock))).isTrue();
    }

    @Test
    void aStoreThatIsGoneIsDownAndSaysWhy() {
        int port;
        try (RedisServer server = RedisServer.start()) {
            port = server.port();
        }
        VertxLockClient gone = fixture.keep(VertxLockClient.create(
                fixture.vertx, VertxLockBackend.connect(fixture.vertx, "redis://127.0.0.1:" + port)));

        CheckResult result = check(gone);

        assertThat(CheckResult.isUp(result)).isFalse();
        assertThat(result.getData().getString("reason")).contains(Integer.toString(port));
    }

    @Test
    void aClientThatIsClosedIsDown() {
        VertxLockClient closed = fixture.client();
        Fixture.get(closed.close());

        CheckResult result = check(closed);

        assertThat(CheckResult.isUp(result)).isFalse();
        assertThat(result.getData().getString("reason")).contains("closed");
    }

    @Test
    void aStoreWhosePushesDoNotArriveIsUpAndSaysWhy() {
        VertxLockClient unheard =
                fixture.keep(VertxLockClient.create(fixture.vertx, new ForwardingBackend(InMemoryLockBackend.create()) {
                    @Override
                    public Optional<String> whyNotPushed() {
                        return Optional.of("rings are not heard: two users");
                    }
                }));

        CheckResult result = check(unheard);

        assertThat(CheckResult.isUp(result)).isTrue();
        assertThat(result.getData().getString("notPushed")).isEqualTo("rings are not heard: two users");
        assertThat(CheckResult.isUp(check(lock))).isTrue();
        assertThat(check(lock).getData()).isNull();
    }

    /** The one procedure of a Vert.x application. */
    private static CheckResult check(VertxLockClient client) {
        HealthChecks checks = HealthChecks.create(fixture.vertx).register("locks", 60_000, LockHealthCheck.of(client));
        return Fixture.get(checks.checkStatus("locks"));
    }
}
