package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is said of servers that do not answer. */
class DiagnosisTest {

    /** The silent one takes all of it. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    @Test
    void aServerThatIsSilentUnknownOrNotThereIsNamed() throws IOException {
        try (ServerSocket silent = new ServerSocket(0)) {
            int port = silent.getLocalPort();

            assertThat(Diagnosis.of("127.0.0.1:" + port + ",nowhere.invalid:2181,127.0.0.1:1", PATIENCE)
                            .block(ZooKeepers.LIMIT))
                    .startsWith("127.0.0.1:" + port + " is silent; nowhere.invalid:2181 is")
                    .contains("127.0.0.1:1 cannot be reached: ", "refused");
        }
    }

    @Test
    void itsThreadsEnd() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();

        assertThat(Diagnosis.of("127.0.0.1:1", PATIENCE).block(ZooKeepers.LIMIT))
                .isNotNull();

        ZooKeepers.until(
                "no thread is left but Reactor's, which all share",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .allMatch(name -> name.startsWith("parallel-")));
    }

    @Test
    void aServerThatServesIsNotSaidToBeOutOfReach() {
        for (String diagnosis : List.of("a:1 is up and serves", "a:1 is silent, b:1 is up and serves")) {
            assertThat(ZooKeeperFailure.silent("a:1", false, diagnosis, new IllegalStateException()))
                    .hasMessageStartingWith("ZooKeeper at a:1 has not let this client in: if its data are gone")
                    .hasMessageEndingWith(" (" + diagnosis + ")")
                    .hasMessageNotContaining("cannot be reached");
        }
        for (String diagnosis : List.of("a:1 is silent", "a:1 is up but has no majority of its servers")) {
            assertThat(ZooKeeperFailure.silent("a:1", false, diagnosis, new IllegalStateException()))
                    .hasMessage("ZooKeeper at a:1 cannot be reached (" + diagnosis + ")");
        }
    }
}
