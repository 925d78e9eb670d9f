package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RedisSetsTest {

    @Test
    void aClusterServesEverySlotMovesOneAndSurvivesTheLossOfAPrimary() {
        try (RedisCluster cluster = RedisCluster.start(3, 1)) {
            RedisServer first = cluster.primary(0);
            RedisServer last = cluster.primary(16_383);
            assertThat(cluster.nodes()).hasSize(6);
            assertThat(first).isNotSameAs(last);
            String key = "{a}";
            int slot = cluster.slot(key);
            RedisServer owner = cluster.primary(slot);
            RedisServer other = owner == first ? last : first;
            owner.command("SET", key, "v");

            cluster.beginMove(slot, other);
            cluster.finishMove(slot, other);
            assertThat(cluster.primary(slot)).isSameAs(other);
            assertThat(other.command("GET", key)).isEqualTo("v");

            other.kill();
            Pause.until("a replica took over", () -> cluster.primary(slot) != other);
            RedisServer promoted = cluster.primary(slot);
            Pause.until(
                    "it serves",
                    () -> String.valueOf(promoted.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
            assertThat(promoted.command("GET", key)).isEqualTo("v");
        }
    }

    @Test
    void sentinelsPromoteAReplicaOfADeadPrimary() {
        try (RedisSentinel set = RedisSentinel.start(2)) {
            RedisServer first = set.primary();
            assertThat(first).isSameAs(set.servers().get(0));
            first.command("SET", "k", "v");
            assertThat(first.command("WAIT", "2", "15000")).isEqualTo(2L);

            first.kill();
            Pause.until("another server is the primary", () -> set.primary() != first);
            assertThat(set.primary().command("GET", "k")).isEqualTo("v");
        }
    }
}
