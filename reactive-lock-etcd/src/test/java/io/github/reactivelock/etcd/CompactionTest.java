package io.github.reactivelock.etcd;

import static io.github.reactivelock.etcd.Etcds.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Maintenance;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What locks leave in etcd's history, and whether somebody sees to it that it does not grow for ever. */
class CompactionTest extends EtcdFixture {

    private static final int KEYS = 3_000;

    @Test
    void aServerThatKeepsALongHistoryIsWarnedAboutUntilItCompacts() {
        EtcdLockBackend backend = backend();
        take(backend, "first");
        assertThat(warnings(Long.MAX_VALUE)).as("a short history").isEmpty();
        assertThat(warnings(2))
                .singleElement()
                .asString()
                .contains(server.uri().replace("http://", ""), "--auto-compaction-mode");

        long now = get(etcd.getKVClient().get(KeyLayout.bytes("a"))).getHeader().getRevision();
        get(etcd.getKVClient().compact(now));

        assertThat(warnings(2)).isEmpty();
    }

    @Test
    void aLockThatIsTakenOnceLeavesSomeHundredBytesUntilTheServerCompacts() {
        EtcdLockBackend backend = backend();
        take(backend, "warm up");
        long before = used();

        for (int i = 0; i < KEYS; i++) {
            take(backend, "order:" + i);
        }

        long bytes = (used() - before) / KEYS;
        System.out.println("etcd: a lock taken once leaves " + bytes + " bytes until the server compacts");
        assertThat(bytes).isLessThan(600);
    }

    private static void take(EtcdLockBackend backend, String key) {
        Claim claim = claim(key, Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
        assertThat(granted(get(backend.claim(claim)))).isPositive();
        assertThat(get(backend.release(claim))).isTrue();
    }

    private long used() {
        Maintenance maintenance = etcd.getMaintenanceClient();
        return get(maintenance.statusMember(server.uri())).getDbSize();
    }

    /** What is said to a client for which so many changes are many. */
    private List<String> warnings(long many) {
        Logger logger = (Logger) LoggerFactory.getLogger(Compaction.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        EtcdBackendOptions options = EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30));
        Etcd asking = new Etcd(ClientSource.of(Client.builder().endpoints(server.uri()), options), options);
        try {
            KeyLayout names = new KeyLayout(options.prefix());
            Compaction compaction = new Compaction(asking, names, many);
            get(compaction.look());
            return logged.list.stream()
                    .filter(event -> event.getLevel() == Level.WARN)
                    .map(ILoggingEvent::getFormattedMessage)
                    .toList();
        } finally {
            logger.detachAppender(logged);
            get(asking.close());
        }
    }
}
