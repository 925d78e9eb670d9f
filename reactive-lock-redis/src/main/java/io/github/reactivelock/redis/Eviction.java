package io.github.reactivelock.redis;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Warns once a client if the server drops keys that have an expiry when its memory is full: all of ours have one, and a
 * lock that is dropped is free for the next. Nothing depends on the answer.
 */
final class Eviction {

    private static final Logger log = LoggerFactory.getLogger(Eviction.class);

    private final AtomicBoolean looked = new AtomicBoolean();

    /** Asks with the first call. The answer is the policy and the limit, zero if there is none. */
    void look(Mono<List<Object>> question, String server) {
        if (looked.compareAndSet(false, true)) {
            question.subscribe(
                    answer -> judge(answer, server),
                    error -> log.debug("Redis at {} does not say what it does when its memory is full", server, error));
        }
    }

    private static void judge(List<Object> answer, String server) {
        String policy = String.valueOf(answer.get(0));
        boolean isLimited = answer.size() > 1 && !Long.valueOf(0).equals(answer.get(1));
        if (isLimited && (policy.startsWith("allkeys-") || policy.startsWith("volatile-"))) {
            log.warn(
                    "Redis at {} drops locks that are held when its memory is full (maxmemory-policy {}), and then two may"
                            + " hold one: set maxmemory-policy noeviction there, or keep locks on a Redis of their own",
                    server,
                    policy);
        }
    }
}
