package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsulServerTest {

    @Test
    void oneServerKeepsItsDataOverARestartAndLosesItEmptied() {
        try (ConsulServer server = ConsulServer.start()) {
            assertThat(server.ask("PUT", "kv/a", "b")).contains("true");

            server.restart();
            assertThat(server.ask("GET", "kv/a?raw", "")).isEqualTo("b");

            server.restartEmpty();
            assertThatThrownBy(() -> server.ask("GET", "kv/a?raw", "")).hasMessageContaining("did not answer");
        }
    }

    @Test
    void threeServersHaveOneLeaderAndAnotherWhenItIsKilled() {
        List<ConsulServer> members = ConsulServer.cluster(3);
        try {
            List<ConsulServer> leaders =
                    members.stream().filter(ConsulServer::isLeader).toList();
            assertThat(leaders).hasSize(1);

            leaders.get(0).kill();

            List<ConsulServer> others =
                    members.stream().filter(member -> member != leaders.get(0)).toList();
            for (int i = 0; i < 3_000 && others.stream().noneMatch(ConsulServer::isLeader); i++) {
                Pause.of(Duration.ofMillis(20));
            }
            assertThat(others.stream().filter(ConsulServer::isLeader)).hasSize(1);
            leaders.get(0).restart();
        } finally {
            members.forEach(ConsulServer::close);
        }
    }
}
