package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** PostgreSQL's own replication: what a standby knows of grants when it is promoted. */
class PromotionTest {

    private static final R2dbcBackendOptions IMPATIENT = R2dbcBackendOptions.defaults()
            .withCommandTimeout(Duration.ofSeconds(3))
            .withoutNotifications();

    private final PostgresServer primary = PostgresServer.start("-c", "synchronous_commit=on");
    private final Databases first = new Databases(primary.url(), () -> {});
    private PostgresServer standby;
    private Databases second;

    @AfterEach
    void stop() {
        standby.close();
        primary.close();
    }

    private void replicate() {
        first.createTables();
        standby = primary.standby();
        second = new Databases(standby.url(), () -> {});
        Databases.until("it follows", () -> first.select("SELECT count(*) FROM pg_stat_replication") == 1);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static Claim claim(String key, Claim.Mode mode) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofMinutes(10), mode);
    }

    private void promote() {
        long unused = second.select("SELECT CASE WHEN pg_promote() THEN 1 ELSE 0 END");
        Databases.until(
                "it takes writes", () -> second.select("SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END") == 0);
    }

    @Test
    void anAsynchronousStandbyMayForgetAGrantButItsTokensRise() {
        replicate();
        R2dbcLockBackend before = R2dbcLockBackend.connect(first.factory(), Databases.PATIENT);
        standby.kill();
        ClaimResult forgotten = get(before.claim(claim("k", Claim.Mode.TRY)));
        assertThat(forgotten).isInstanceOf(ClaimResult.Granted.class);
        primary.kill();
        standby.restart();
        promote();

        R2dbcLockBackend after = R2dbcLockBackend.connect(second.factory(), Databases.PATIENT);
        assertThat(get(after.claim(claim("k", Claim.Mode.TRY))))
                .isInstanceOfSatisfying(
                        ClaimResult.Granted.class,
                        next -> assertThat(next.fencingToken())
                                .isGreaterThan(((ClaimResult.Granted) forgotten).fencingToken()));
        get(after.close());
    }

    @Test
    void aSynchronousStandbyForgetsNoGrant() {
        replicate();
        long unused = first.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
        long unusedToo = first.select("SELECT CASE WHEN pg_reload_conf() THEN 1 ELSE 0 END");
        Databases.until(
                "commits wait for it",
                () -> first.select("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1);
        R2dbcLockBackend before = R2dbcLockBackend.connect(first.factory(), IMPATIENT);

        standby.pause();
        Throwable unanswered = get(before.claim(claim("unanswered", Claim.Mode.TRY))
                .<Throwable>map(answer -> new AssertionError("answered " + answer))
                .onErrorResume(Mono::just));
        assertThat(unanswered).hasMessageContaining("did not answer");
        standby.resume();
        Claim held = claim("k", Claim.Mode.TRY);
        Databases.until(
                "a grant that has reached the standby is answered",
                () -> get(before.claim(held)
                        .map(ClaimResult.Granted.class::isInstance)
                        .onErrorReturn(false)));
        primary.kill();
        promote();

        R2dbcLockBackend after = R2dbcLockBackend.connect(second.factory(), Databases.PATIENT);
        assertThat(get(after.claim(claim("k", Claim.Mode.TRY)))).isInstanceOf(ClaimResult.Busy.class);
        assertThat(get(after.renew(List.of(held))).renewed()).contains(held.id());
        get(after.close());
    }

    @Test
    void aClientOnAStandbyFailsOrFindsThePrimaryAmongSeveralAddresses() {
        replicate();
        R2dbcLockBackend misled = R2dbcLockBackend.connect(second.url(), Databases.PATIENT.withoutNotifications());
        Throwable refused = get(misled.claim(claim("k", Claim.Mode.TRY))
                .<Throwable>map(answer -> new AssertionError("answered " + answer))
                .onErrorResume(Mono::just));
        assertThat(refused).hasMessageContaining("is a standby").hasMessageContaining("targetServerType=primary");
        get(misled.close());

        R2dbcLockBackend led = R2dbcLockBackend.connect(
                "r2dbc:postgresql:failover://postgres@127.0.0.1:" + standby.port() + ",127.0.0.1:" + primary.port()
                        + "/postgres?targetServerType=primary",
                Databases.PATIENT);
        assertThat(get(led.claim(claim("k", Claim.Mode.TRY)))).isInstanceOf(ClaimResult.Granted.class);
        get(led.close());
    }
}
