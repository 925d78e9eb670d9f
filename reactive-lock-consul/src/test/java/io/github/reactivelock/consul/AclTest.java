package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.testservers.ConsulServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/** A Consul that asks for tokens. What it denies comes with the same status as a lost race, and is told apart. */
class AclTest extends Fixture {

    private static final String SESSIONS =
            "node \"reactive-lock\" { policy = \"write\" } session \"reactive-lock\" { policy = \"write\" }";

    @Override
    ConsulServer startServer() {
        return ConsulServer.start("-hcl=acl { enabled = true default_policy = \"deny\" tokens { master = \""
                + ConsulServer.ROOT_TOKEN + "\" } }");
    }

    private String token(String name, String rules) {
        return of("SecretID", made(name, rules));
    }

    private static String of(String field, String answer) {
        return answer.replaceAll(".*\"" + field + "\":\"([^\"]+)\".*", "$1");
    }

    private String made(String name, String rules) {
        String policy = server.ask(
                "PUT", "acl/policy", "{\"Name\":\"" + name + "\",\"Rules\":\"" + rules.replace("\"", "\\\"") + "\"}");
        assertThat(policy).contains(name);
        return server.ask("PUT", "acl/token", "{\"Policies\":[{\"Name\":\"" + name + "\"}]}");
    }

    private void change(String policy, String rules) {
        server.ask(
                "PUT",
                "acl/policy/" + policy,
                "{\"Name\":\"taken\",\"Rules\":\"" + rules.replace("\"", "\\\"") + "\"}");
    }

    private ConsulLockBackend with(String token) {
        return ConsulLockBackend.connect(server.uri(), Consuls.patient().withToken(token));
    }

    @Test
    void theTokenThatTheOptionsNameIsEnough() {
        LockClient client =
                client(with(token("enough", "key_prefix \"reactivelock/\" { policy = \"write\" } " + SESSIONS)));

        assertThat(Consuls.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
    }

    @Test
    void withoutATokenAClaimIsDeniedWithWhatToDo() {
        LockClient client = client(ConsulLockBackend.connect(server.uri(), Consuls.patient()));

        assertThat(Consuls.error(client.acquire(key)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("key_prefix \"reactivelock/\"")
                .hasMessageContaining("node \"reactive-lock\"");
    }

    @Test
    void aLockThatMayNotBeSeenIsNotShownAsFree() {
        LockClient owner = client(with(ConsulServer.ROOT_TOKEN));
        LockHandle held = Consuls.get(owner.acquire(key));
        LockBackend stranger = opened(ConsulLockBackend.connect(server.uri(), Consuls.patient()));

        for (Mono<?> look : List.of(
                stranger.inspect(key),
                stranger.list("", ""),
                stranger.events(key).next())) {
            assertThat(Consuls.error(look)).hasMessageContaining("denies this token");
        }
        Consuls.done(held.release());
    }

    @Test
    void aTokenThatMayOnlyReadIsToldSoByReady() {
        Consuls.done(client(with(ConsulServer.ROOT_TOKEN)).ready());
        LockClient reads =
                client(with(token("reads", "key_prefix \"reactivelock/\" { policy = \"read\" } " + SESSIONS)));

        assertThat(Consuls.get(reads.inspect(key)).isFree()).isTrue();
        assertThat(Consuls.error(reads.ready()))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("denies this token");
    }

    @Test
    void aTransactionThatIsDeniedIsNoLostRace() {
        ConsulLockBackend backend = opened(with(token("sessions", SESSIONS)));

        assertThat(Consuls.error(backend.claim(claim())))
                .hasMessageContaining("denies this token")
                .hasMessageContaining("key_prefix \"reactivelock/\"");
    }

    @Test
    void aHoldWhoseTokenWasTakenAwayIsRefusedAndNotLost() {
        String token = token("taken", "key_prefix \"reactivelock/\" { policy = \"write\" } " + SESSIONS);
        ConsulLockBackend backend = opened(with(token));
        Claim claim = claim();
        granted(Consuls.get(backend.claim(claim)));
        String policy = server.ask("GET", "acl/policy/name/taken", "").replaceAll(".*\"ID\":\"([^\"]+)\".*", "$1");
        change(policy, SESSIONS);

        Consuls.until("the renewal is denied", () -> {
            RenewalResult renewal = Consuls.get(backend.renew(List.of(claim)));
            assertThat(renewal.lost()).isEmpty();
            return renewal.refused().containsKey(claim.id());
        });
        change(policy, "key_prefix \"\" { policy = \"write\" } " + SESSIONS);
        Consuls.until(
                "it is allowed again",
                () -> !Consuls.get(backend.renew(List.of(claim))).renewed().isEmpty());
        assertThat(Consuls.get(backend.release(claim))).isTrue();
    }

    /** Its client can neither renew its session nor end it. */
    @Test
    void aHoldWhoseTokenWasDeletedIsLostAndItsLockIsFreeLater() {
        String token = made("deleted", "key_prefix \"reactivelock/\" { policy = \"write\" } " + SESSIONS);
        LockClient client = client(ConsulLockBackend.connect(
                server.uri(),
                Consuls.patient().withSessionTtl(Duration.ofSeconds(20)).withToken(of("SecretID", token))));
        LockClient other = client(with(ConsulServer.ROOT_TOKEN));
        LockHandle held = Consuls.get(client.acquire(key));

        server.ask("DELETE", "acl/token/" + of("AccessorID", token), "");

        assertThat(Consuls.get(held.lost())).isNotNull();
        assertThat(Consuls.get(other.inspect(key)).isHeld()).isTrue();
        LockHandle next = Consuls.get(other.acquire(key));
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        Consuls.done(next.release());
    }

    /** Tokens of Vault, say, end while locks are held. The session is the node's, so any token that may renews it. */
    @Test
    void aHoldOutlivesATokenThatAClientOfTheApplicationReplaces() {
        String first = made("first", "key_prefix \"reactivelock/\" { policy = \"write\" } " + SESSIONS);
        AtomicReference<String> token = new AtomicReference<>(of("SecretID", first));
        HttpClient http = HttpClient.create()
                .headersWhen(headers -> Mono.fromSupplier(() -> headers.set("X-Consul-Token", token.get())));
        ConsulLockBackend backend = opened(ConsulLockBackend.using(http, server.uri(), Consuls.patient()));
        Claim claim = claim();
        granted(Consuls.get(backend.claim(claim)));

        server.ask("DELETE", "acl/token/" + of("AccessorID", first), "");
        Consuls.until(
                "the renewal is refused",
                () -> Consuls.error(backend.renew(List.of(claim))).getMessage().contains("does not know the token"));
        assertThat(Consuls.error(backend.claim(claim()))).hasMessageContaining("does not know the token");
        token.set(token("second", "key_prefix \"reactivelock/\" { policy = \"write\" } " + SESSIONS));

        assertThat(Consuls.get(backend.renew(List.of(claim))).renewed()).containsExactly(claim.id());
        assertThat(Consuls.get(backend.release(claim))).isTrue();
    }
}
