package io.github.reactivelock.examples.flashsale;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** One instance of the application, a separate process: takes buyers from its desk and tries to sell each a ticket. */
final class Instance {

    static final String CLOSE = "close";

    /** Short, so that the death of an instance delays the sale by no more than this. */
    private static final Duration LEASE = Duration.ofSeconds(2);

    private static final Duration PAYMENT = Duration.ofMillis(5);
    private static final int BUYERS_AT_ONCE = 500;

    private final AppRedis redis;
    private final LockClient lock;
    private final Names names;

    private Instance(AppRedis redis, LockClient lock, Names names) {
        this.redis = redis;
        this.lock = lock;
        this.names = names;
    }

    /** Arguments: the URI of Redis, the run, the instance's name. */
    public static void main(String[] args) {
        String uri = args[0];
        Names names = new Names(args[1]);
        String name = args[2];
        LockClient lock = LockClient.builder(LettuceLockBackend.connect(uri))
                .name(name)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
        Mono<Void> program = Mono.usingWhen(
                AppRedis.connect(uri),
                redis -> new Instance(redis, lock, names).serve(name),
                redis -> lock.close().then(redis.close()));
        try {
            program.takeUntilOther(ChildProcess.parentExit()).block();
        } catch (RuntimeException e) {
            System.err.println(name + ": " + Launcher.explain(e));
            System.exit(1);
        }
    }

    private Mono<Void> serve(String name) {
        return say(name)
                .thenMany(redis.take(names.desk(name)))
                .takeWhile(buyer -> !buyer.equals(CLOSE))
                .map(buyer -> buyer.split(" ", -1))
                .flatMap(buyer -> serve(Round.valueOf(buyer[0]), Integer.parseInt(buyer[1])), BUYERS_AT_ONCE)
                .flatMap(answer -> say(answer.line()))
                .then();
    }

    private Mono<Long> say(String line) {
        return redis.commands().rpush(names.answers(), line);
    }

    // A purchase that lost its lock runs again; a buyer who has a receipt by then gets no second ticket.
    private Mono<Answer> serve(Round round, int buyer) {
        Mono<Answer> purchase = round.isLocked() ? lockedPurchase(round, buyer) : purchase(round, buyer, 0, 0);
        return purchase.retryWhen(Retry.backoff(5, LEASE.dividedBy(10))
                .filter(LockException.class::isInstance)
                .onRetryExhaustedThrow((spec, last) -> last.failure()));
    }

    private Mono<Answer> lockedPurchase(Round round, int buyer) {
        return Mono.defer(() -> {
            long asked = System.nanoTime();
            return lock.withLock(
                    names.lock(round), held -> purchase(round, buyer, held.fencingToken(), System.nanoTime() - asked));
        });
    }

    private Mono<Answer> purchase(Round round, int buyer, long fencingToken, long waited) {
        Sale sale = new Sale(redis.commands(), names.sale(round), fencingToken);
        return sale.hasReceipt(buyer)
                .flatMap(hasReceipt -> hasReceipt ? Mono.just(true) : sell(sale, buyer))
                .map(sold -> new Answer(round, buyer, sold, Duration.ofNanos(waited)));
    }

    // Read, check, pay, write: correct only if no other process does the same meanwhile.
    private static Mono<Boolean> sell(Sale sale, int buyer) {
        return sale.left()
                .flatMap(left -> left == 0
                        ? Mono.just(false)
                        : Mono.delay(PAYMENT)
                                .then(sale.write(left - 1, buyer, left))
                                .thenReturn(true));
    }
}
