package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.Pause;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A proxy that leads new connections to another server and leaves open ones where they are. */
class SwitchOverTest {

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static boolean isTold(Queue<Signal> told, Claim claim) {
        return told.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Grant grant && grant.claimId().equals(claim.id()));
    }

    @Test
    void aWaiterIsToldThoughItsConnectionForNotificationsStayedAtTheOldServer() {
        try (Databases old = Databases.postgres();
                Databases next = Databases.postgres()) {
            old.createTables();
            next.createTables();
            ConnectionFactory newFactory = next.factory();
            AtomicReference<ConnectionFactory> target = new AtomicReference<>(old.factory());
            R2dbcLockBackend far = R2dbcLockBackend.using(Databases.leadingTo(target), Databases.PATIENT);
            Queue<Signal> told = new ConcurrentLinkedQueue<>();
            var listening = far.signals().subscribe(told::add, error -> {});
            Databases.until("pushes arrive", () -> told.contains(new Signal.Reconnected()));

            told.clear();
            target.set(newFactory);
            R2dbcLockBackend near = next.backend();
            Claim holder = Databases.claim("switched");
            Claim waiter = Databases.claim("switched");
            assertThat(get(near.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(get(near.release(holder))).isTrue();

            Databases.until("it is told, though it does not ask", () -> isTold(told, waiter));
            Databases.until("pushes arrive from the new server", () -> told.contains(new Signal.Reconnected()));
            assertThat(get(far.release(waiter))).isTrue();
            listening.dispose();
            get(far.close().then(near.close()));
        }
    }

    private static long probes(Tapped tapped) {
        return tapped.statements().stream()
                .filter(text -> text.contains("pg_notify($1"))
                .count();
    }

    /** Whether the connection was tried earlier after a grant was found than its regular times would have it. */
    private static boolean isTriedBeforeItsTime(Databases old, Databases next) {
        long begun = System.nanoTime();
        AtomicReference<ConnectionFactory> target = new AtomicReference<>(old.factory());
        Tapped tapped = Tapped.of(Databases.leadingTo(target));
        R2dbcLockBackend far = R2dbcLockBackend.using(tapped, Databases.PATIENT);
        Queue<Signal> told = new ConcurrentLinkedQueue<>();
        var listening = far.signals().subscribe(told::add, error -> {});
        Databases.until("pushes arrive", () -> told.contains(new Signal.Reconnected()));
        told.clear();
        target.set(next.factory());
        R2dbcLockBackend near = next.backend();
        Claim holder = Databases.claim("found");
        Claim waiter = Databases.claim("found");
        assertThat(get(near.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(near.release(holder))).isTrue();
        long before = probes(tapped);

        assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Granted.class);

        Databases.until("it is tried", () -> probes(tapped) > before);
        long tried = System.nanoTime();
        Databases.until("pushes arrive from the new server", () -> told.contains(new Signal.Reconnected()));
        assertThat(get(far.release(waiter))).isTrue();
        listening.dispose();
        get(far.close().then(near.close()));
        return tried - begun < PgNotifications.CHECK.toNanos();
    }

    /** On a machine that is too busy for it more than once is needed. */
    @Test
    void aGrantThatIsFoundByAskingHasTheConnectionTried() {
        try (Databases old = Databases.postgres();
                Databases next = Databases.postgres()) {
            old.createTables();
            next.createTables();

            Pause.until(
                    "it is tried when the grant is found",
                    Duration.ofMinutes(4),
                    () -> isTriedBeforeItsTime(old, next));
        }
    }

    private static Claim ofLongLease() {
        return new Claim(
                "still waited for", UUID.randomUUID().toString(), "me", Duration.ofMinutes(10), Claim.Mode.QUEUE);
    }

    private static R2dbcLockBackend listening(AtomicReference<ConnectionFactory> target) {
        R2dbcLockBackend far = R2dbcLockBackend.using(Databases.leadingTo(target), Databases.PATIENT);
        assertThat(get(far.claim(ofLongLease()))).isInstanceOf(ClaimResult.Queued.class);
        Databases.until("rings are heard", far::isPushed);
        return far;
    }

    /** Whether a listener of MariaDB is at the new server before it counts as one that hears nothing. */
    private static boolean moves(Databases old, Databases next) {
        AtomicReference<ConnectionFactory> target = new AtomicReference<>(old.factory());
        R2dbcLockBackend far = listening(target);
        target.set(next.factory());
        R2dbcLockBackend near = next.backend();
        Claim holder = Databases.claim("found");
        Claim waiter = Databases.claim("found");
        assertThat(get(near.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(near.release(holder))).isTrue();
        assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Granted.class);

        AtomicBoolean wasDeaf = new AtomicBoolean();
        String asleep = "SELECT count(*) FROM information_schema.processlist WHERE state = 'User lock'";
        Databases.until("it listens at the new server", () -> {
            if (far.whyNotPushed().isPresent()) {
                wasDeaf.set(true);
            }
            return next.select(asleep) > 0;
        });
        Databases.until("rings are heard again", far::isPushed);
        assertThat(get(far.release(waiter))).isTrue();
        get(far.close().then(near.close()));
        return !wasDeaf.get();
    }

    /** On a machine that is too busy to hear a ring of its own more than once is needed. */
    @Test
    void aListenerLeftAtTheOldServerMovesToTheNewOne() {
        try (Databases old = Databases.mariaDb("mariadb");
                Databases next = Databases.mariaDb("mariadb")) {
            old.createTables();
            next.createTables();
            R2dbcLockBackend before = old.backend();
            assertThat(get(before.claim(ofLongLease()))).isInstanceOf(ClaimResult.Granted.class);

            Pause.until("it moves without a pause", Duration.ofMinutes(4), () -> moves(old, next));

            get(before.close());
        }
    }
}
