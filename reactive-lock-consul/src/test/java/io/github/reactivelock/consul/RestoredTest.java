package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A Consul that was put back to an older snapshot, as {@code consul snapshot restore} does it. */
class RestoredTest extends Fixture {

    private final HttpClient http = HttpClient.newHttpClient();

    private byte[] snapshot() throws IOException, InterruptedException {
        return asked(HttpRequest.newBuilder(snapshots()).GET().build());
    }

    private void restore(byte[] snapshot) throws IOException, InterruptedException {
        asked(HttpRequest.newBuilder(snapshots())
                .PUT(HttpRequest.BodyPublishers.ofByteArray(snapshot))
                .build());
    }

    private URI snapshots() {
        return URI.create(server.uri() + "/v1/snapshot");
    }

    @CanIgnoreReturnValue
    private byte[] asked(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
    }

    private static Mono<LockLostException> lost(LockHandle held) {
        return held.renew().onErrorComplete().then(held.lost());
    }

    @Test
    void anOlderSnapshotLosesHoldsMadeSinceBringsBackOthersAndTokensRise() throws Exception {
        LockClient early = client();
        LockClient late = client();
        LockHandle kept = Consuls.get(early.acquire("kept"));
        LockHandle released = Consuls.get(early.acquire("released since"));
        byte[] snapshot = snapshot();
        Consuls.done(released.release());
        LockHandle ofEarly = Consuls.get(early.acquire("taken by early"));
        LockHandle ofLate = Consuls.get(late.acquire("taken by late"));
        CompletableFuture<LockHandle> waiting = late.acquire("kept").toFuture();
        Consuls.until(
                "one waits",
                () -> Consuls.get(early.inspect("kept")).held().orElseThrow().waiters() == 1);

        restore(snapshot);

        Consuls.done(lost(ofEarly));
        Consuls.done(lost(ofLate));
        Consuls.done(Consuls.patiently(kept.renew()));
        assertThat(kept.isHeld()).isTrue();
        assertThat(Consuls.get(Consuls.patiently(late.forceRelease("released since"))))
                .isTrue();
        LockHandle next = Consuls.get(Consuls.patiently(early.acquire("taken by late")));
        assertThat(next.fencingToken()).isGreaterThan(ofLate.fencingToken());
        Consuls.done(kept.release());
        assertThat(waiting).succeedsWithin(Consuls.LIMIT);
        assertThat(waiting.join().fencingToken()).isGreaterThan(kept.fencingToken());
    }
}
