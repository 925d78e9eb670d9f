package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.R2dbcException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A MariaDB whose files may not grow any more, which answers as on a disk that is full. */
class FullDiskTest {

    private static final int MOST_CLAIMS = 5_000;

    private static boolean isFull(Databases database, int bytes) {
        try {
            database.execute("INSERT INTO filler (text) VALUES (repeat('x', " + bytes + "))");
            return false;
        } catch (R2dbcException full) {
            assertThat(full.getErrorCode()).isEqualTo(1114);
            return true;
        }
    }

    private static Mono<ClaimResult> claim(R2dbcLockBackend backend, int number) {
        return backend.claim(Databases.claim("x".repeat(400) + number));
    }

    @Test
    void aClaimThatNeedsRoomIsRefusedWithTheReason() {
        try (Databases database = Databases.mariaDb(
                "mariadb",
                "--innodb-file-per-table=0",
                "--innodb-data-file-path=ibdata1:12M:autoextend:max:24M",
                "--innodb-autoextend-increment=1")) {
            database.createTables();
            R2dbcLockBackend backend =
                    R2dbcLockBackend.connect(database.factory(), Databases.PATIENT.withoutNotifications());
            database.execute("CREATE TABLE filler (text LONGTEXT)");
            for (int bytes : new int[] {1_000_000, 10_000, 1_000}) {
                boolean isFull = false;
                while (!isFull) {
                    isFull = isFull(database, bytes);
                }
            }

            String refusal = "";
            for (int i = 0; refusal.isEmpty() && i < MOST_CLAIMS; i++) {
                refusal = claim(backend, i)
                        .map(granted -> "")
                        .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())))
                        .block(Databases.LIMIT);
            }

            assertThat(refusal).contains("no room left");
            backend.close().block(Databases.LIMIT);
        }
    }
}
