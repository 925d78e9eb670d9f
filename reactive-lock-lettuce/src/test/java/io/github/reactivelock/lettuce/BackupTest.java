package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.testservers.LocksMeanwhile;
import io.github.reactivelock.testservers.Pause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A Redis that saves itself into its {@code dump.rdb}. */
class BackupTest {

    private static final int MEGABYTE = 1 << 20;

    @RegisterExtension
    static final RedisFixture REDIS = new RedisFixture();

    private static LockClient client() {
        return RedisFixture.client(REDIS.backend());
    }

    /** In a process of its own, which Redis forks. */
    private static boolean save() {
        assertThat(REDIS.redis.bgsave()).isEqualTo("Background saving started");
        Pause.until("it is saved", () -> says("rdb_bgsave_in_progress:0"));
        assertThat(says("rdb_last_bgsave_status:ok")).isTrue();
        return true;
    }

    private static boolean says(String words) {
        return REDIS.redis.info("persistence").lines().anyMatch(words::equals);
    }

    @Test
    void savesOfRedisInTheBackgroundCostTheLocksNothing() throws Exception {
        for (int i = 0; i < 32; i++) {
            REDIS.redis.set("filler " + i, Integer.toString(i).repeat(MEGABYTE));
        }

        LocksMeanwhile.areServed(client(), client(), BackupTest::save);
    }
}
