package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.Pause;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What tests ask etcd itself, and how they wait. */
final class Etcds {

    static final Duration LIMIT = Duration.ofSeconds(60);

    private Etcds() {}

    @CanIgnoreReturnValue
    static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("no good answer", e);
        }
    }

    @CanIgnoreReturnValue
    static <T> T get(Mono<T> answer) {
        return answer.block(LIMIT);
    }

    /** For what a busy machine makes fail: asked again until the store has answered in time. */
    static <T> Mono<T> patiently(Mono<T> question) {
        return question.retryWhen(
                Retry.fixedDelay(100, Duration.ofMillis(200)).filter(LockUnavailableException.class::isInstance));
    }

    static Throwable error(Mono<?> answer) {
        return answer.<Throwable>flatMap(value -> Mono.error(new AssertionError("no error but " + value)))
                .switchIfEmpty(Mono.error(new AssertionError("no error but empty")))
                .onErrorResume(Mono::just)
                .block(LIMIT);
    }

    static void until(String what, BooleanSupplier isSo) {
        Pause.until(what, LIMIT, isSo);
    }

    @CanIgnoreReturnValue
    static boolean works(Client client) {
        return get(client.getKVClient().get(ByteSequence.from(new byte[] {0}))).getHeader() != null;
    }

    /** All keys that locks have in etcd, notices of forced releases left out. */
    static List<KeyValue> claims(Client client) {
        GetOption all = GetOption.builder().isPrefix(true).build();
        return get(client.getKVClient().get(KeyLayout.bytes("reactivelock/"), all)).getKvs().stream()
                .filter(kv -> !KeyLayout.tail(kv.getKey()).isEmpty())
                .toList();
    }

    /** Waits for the marker of the owner's lease, which is put in the background. */
    static void untilMarked(Client client) throws InterruptedException {
        long lease = oldest(client).getLease();
        GetOption all = GetOption.builder().isPrefix(true).build();
        until(
                "its lease is marked",
                () -> get(client.getKVClient().get(KeyLayout.bytes("reactivelock/!"), all)).getKvs().stream()
                        .anyMatch(kv -> kv.getLease() == lease));
    }

    /** The owner of the only lock there is. */
    static KeyValue oldest(Client client) {
        return claims(client).stream()
                .min(Comparator.comparingLong(KeyValue::getCreateRevision))
                .orElseThrow();
    }

    static void assertNoClaims(Client client) {
        assertThat(claims(client)).extracting(kv -> kv.getKey().toString()).isEmpty();
    }
}
