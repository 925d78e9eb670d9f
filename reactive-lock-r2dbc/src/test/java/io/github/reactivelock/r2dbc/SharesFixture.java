package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import reactor.core.publisher.Mono;

/** Claims on one key in each database, said to the backends of processes that are closed after each test. */
abstract class SharesFixture extends EachDatabase {

    static final Duration LONG = Duration.ofMinutes(10);

    private final List<LockBackend> backends = new ArrayList<>();
    String key = "";

    @BeforeEach
    void nameKey() {
        key = UUID.randomUUID().toString();
    }

    @AfterEach
    void close() {
        backends.forEach(backend -> backend.close().block(Databases.LIMIT));
        backends.clear();
    }

    R2dbcLockBackend process(Databases database) {
        R2dbcLockBackend backend = database.backend();
        backends.add(backend);
        return backend;
    }

    Claim claim(Share share, Duration lease, Claim.Mode mode) {
        String id = UUID.randomUUID().toString();
        return new Claim(key, id, "me", lease, mode, Claim.Keeping.RENEWED, share);
    }

    Claim claim(Share share, Duration lease) {
        return claim(share, lease, Claim.Mode.QUEUE);
    }

    @CanIgnoreReturnValue
    static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    static void granted(LockBackend by, Claim claim) {
        assertThat(get(by.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
    }
}
