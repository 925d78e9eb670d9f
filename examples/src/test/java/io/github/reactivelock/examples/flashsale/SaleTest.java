package io.github.reactivelock.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RedisOption;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class SaleTest {

    private static final long EARLIER = 890_568_926_076_407_808L;

    @Test
    void aWriteThatArrivesBehindTheReadingOfALaterHolderIsRefused() {
        inRedis(redis -> {
                    Sale early = new Sale(redis.commands(), "sale", EARLIER);
                    Sale late = new Sale(redis.commands(), "sale", EARLIER + 1);
                    return redis.commands()
                            .hset("sale", Sale.LEFT, "9")
                            .then(early.left())
                            .then(late.left())
                            .then(early.write(8, 1, 9));
                })
                .verifyErrorSatisfies(refused -> assertThat(refused).hasMessageContaining("STALE"));
    }

    @Test
    void aWriteSetsStockAndReceiptTogether() {
        inRedis(redis -> {
                    Sale sale = new Sale(redis.commands(), "sale", EARLIER);
                    return sale.write(8, 1, 9).then(Mono.zip(sale.left(), sale.hasReceipt(1), sale.hasReceipt(2)));
                })
                .assertNext(seen -> {
                    assertThat(seen.getT1()).isEqualTo(8);
                    assertThat(seen.getT2()).isTrue();
                    assertThat(seen.getT3()).isFalse();
                })
                .verifyComplete();
    }

    private static <T> StepVerifier.FirstStep<T> inRedis(Function<AppRedis, Mono<T>> program) {
        return StepVerifier.create(
                new RedisOption().use(uri -> Mono.usingWhen(AppRedis.connect(uri), program, AppRedis::close)));
    }
}
