package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.testservers.ConsulServer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A Consul whose small disk is full. */
class FullDiskTest {

    private static String said(Mono<LockHandle> acquisition) {
        return Objects.requireNonNull(acquisition
                .flatMap(LockHandle::release)
                .thenReturn("")
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())))
                .block(Consuls.LIMIT));
    }

    @Test
    void aServerWithoutRoomRefusesClaimsWithTheReasonAndServesAgainLater() {
        assumeTrue(ConsulServer.canHaveSmallDisk(), "a process may have no mounts of its own here");
        try (ConsulServer server = ConsulServer.startOnSmallDisk()) {
            LockClient client = LockClient.builder(ConsulLockBackend.connect(server.uri(), Consuls.patient()))
                    .commandTimeout(Consuls.LIMIT)
                    .build();
            LockHandle held = Consuls.get(client.acquire("held"));

            server.fillDisk();

            Consuls.until(
                    "a claim is refused with the reason",
                    () -> said(client.acquire("more")).contains("no space left on device"));
            server.makeRoom();
            LockHandle next = Consuls.get(Consuls.patiently(client.acquire("next")));
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            Consuls.done(next.release());
            Consuls.done(client.close());
        }
    }
}
