package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.R2dbcException;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Databases whose files cannot grow any more, which answer as on a disk that is full. */
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

    private static R2dbcLockBackend backend(Databases database) {
        return R2dbcLockBackend.connect(database.factory(), Databases.PATIENT.withoutNotifications());
    }

    private static Mono<ClaimResult> claim(R2dbcLockBackend backend, int number) {
        return backend.claim(Databases.claim("x".repeat(400) + number));
    }

    /** What is said of the first claim for which there is no room. */
    private static String refusal(R2dbcLockBackend backend) {
        String refusal = "";
        for (int i = 0; refusal.isEmpty() && i < MOST_CLAIMS; i++) {
            refusal = claim(backend, i)
                    .map(granted -> "")
                    .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())))
                    .block(Databases.LIMIT);
        }
        return refusal;
    }

    /** At the server, in the folder of its data. */
    private static void run(Databases postgres, String program) {
        postgres.execute("COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && " + program + "'");
    }

    @Test
    void aClaimThatNeedsRoomIsRefusedWithTheReason() {
        try (Databases database = Databases.mariaDb(
                "mariadb",
                "--innodb-file-per-table=0",
                "--innodb-data-file-path=ibdata1:12M:autoextend:max:24M",
                "--innodb-autoextend-increment=1")) {
            database.createTables();
            R2dbcLockBackend backend = backend(database);
            database.execute("CREATE TABLE filler (text LONGTEXT)");
            for (int bytes : new int[] {1_000_000, 10_000, 1_000}) {
                boolean isFull = false;
                while (!isFull) {
                    isFull = isFull(database, bytes);
                }
            }

            assertThat(refusal(backend)).contains("no room left");
            backend.close().block(Databases.LIMIT);
        }
    }

    /** The second gigabyte of a table is a file of its own: here a device that is always full. */
    @Test
    void aPostgresWithoutRoomRefusesClaimsRenewsAndReleases() {
        try (Databases database = Databases.postgres("-c", "autovacuum=off")) {
            database.createTables();
            R2dbcLockBackend backend = backend(database);
            Claim held = Databases.claim("held");
            assertThat(backend.claim(held).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            String file = "base/"
                    + database.select("SELECT CAST(oid AS BIGINT) FROM pg_database WHERE datname = current_database()")
                    + "/" + database.select("SELECT CAST(pg_relation_filenode('reactive_lock') AS BIGINT)");
            run(database, "truncate -s 1G " + file + " && ln -s /dev/full " + file + ".1");

            assertThat(refusal(backend)).contains("no room left", "No space left on device");

            assertThat(backend.renew(List.of(held)).block(Databases.LIMIT).renewed())
                    .containsExactly(held.id());
            assertThat(backend.release(held).block(Databases.LIMIT)).isTrue();
            backend.close().block(Databases.LIMIT);
            run(database, "rm " + file + ".1");
            R2dbcLockBackend after = backend(database);
            assertThat(claim(after, MOST_CLAIMS).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            after.close().block(Databases.LIMIT);
        }
    }
}
