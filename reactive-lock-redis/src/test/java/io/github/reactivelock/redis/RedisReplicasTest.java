package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class RedisReplicasTest {

    @Test
    void aQuestionThatThrowsAnErrorFailsAndTheNextOneIsAsked() {
        AtomicInteger asked = new AtomicInteger();
        RedisReplicas replicas = new RedisReplicas(
                claims -> {
                    if (asked.getAndIncrement() == 0) {
                        throw new NoClassDefFoundError("gone");
                    }
                    return Mono.just(new RenewalResult(Set.of(claims.get(0).id()), Map.of()));
                },
                Duration.ofSeconds(1));
        List<Claim> claims = List.of(new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.QUEUE));

        StepVerifier.create(replicas.renew(claims)).verifyError(NoClassDefFoundError.class);
        assertThat(replicas.renew(claims).block(Duration.ofSeconds(5)).renewed())
                .containsExactly("id.0");
    }
}
