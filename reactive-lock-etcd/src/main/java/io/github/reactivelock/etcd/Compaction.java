package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.github.reactivelock.spi.support.FireAndForget;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Warns once a client if etcd still has its history from the very first change on, and much of it: it seems that it is
 * never compacted. Every lock adds to that history until etcd's quota is full, and then etcd refuses all locks. Nothing
 * depends on the answer.
 */
final class Compaction {

    /**
     * About 15 megabytes of locks. A server that compacts every hour gets there within its first hour when it is busy.
     */
    static final long MANY = 100_000;

    private static final Logger log = LoggerFactory.getLogger(Compaction.class);

    private final Etcd etcd;
    private final ByteSequence ours;
    private final long many;
    private final AtomicBoolean looked = new AtomicBoolean();

    Compaction(Etcd etcd, KeyLayout names, long many) {
        this.etcd = etcd;
        this.ours = names.lock("");
        this.many = many;
    }

    void lookOnce() {
        if (looked.compareAndSet(false, true)) {
            FireAndForget.run("looking whether etcd compacts", look());
        }
    }

    Mono<Void> look() {
        return etcd.wholeHistory(ours).doOnNext(this::judge).then();
    }

    private void judge(long changes) {
        if (changes >= many) {
            log.warn(
                    "etcd at {} keeps all of its {} changes and seems never to compact: each lock adds two, about 300 bytes,"
                            + " until its quota is full and no lock can be taken; start it with"
                            + " --auto-compaction-mode=periodic --auto-compaction-retention=1h",
                    etcd.server(),
                    changes);
        }
    }
}
