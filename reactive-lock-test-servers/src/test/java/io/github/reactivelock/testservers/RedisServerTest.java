package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RedisServerTest {

    @Test
    void aServerAnswersUntilItIsClosedAndLeavesNothingBehind() {
        RedisServer server = RedisServer.start();
        Path directory = server.directory();

        assertThat(server.command("SET", "k", "ein Schl\u00fcssel")).isEqualTo("OK");
        assertThat(server.command("GET", "k")).isEqualTo("ein Schl\u00fcssel");
        assertThat(server.command("GET", "none")).isNull();
        assertThat(server.command("DBSIZE")).isEqualTo(1L);
        assertThat(server.command("MGET", "k", "none")).isEqualTo(Arrays.asList("ein Schl\u00fcssel", null));
        assertThatThrownBy(() -> server.command("NONSENSE")).hasMessageStartingWith("ERR unknown command");

        server.close();
        assertThat(server.isRunning()).isFalse();
        assertThat(directory).doesNotExist();
        assertThatThrownBy(() -> server.command("PING")).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void aRestartKeepsPortAndDataAndAnEmptyOneThePort() {
        try (RedisServer server = RedisServer.start()) {
            int port = server.port();
            server.command("SET", "k", "v");

            server.restart();
            assertThat(server.port()).isEqualTo(port);
            assertThat(server.command("GET", "k")).isEqualTo("v");

            server.restartEmpty();
            assertThat(server.command("DBSIZE")).isEqualTo(0L);

            server.kill();
            assertThat(server.isRunning()).isFalse();
            server.restart();
            assertThat(server.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aPausedServerAnswersWhenItRunsOn() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            server.pause();
            CompletableFuture<Object> answer = CompletableFuture.supplyAsync(() -> server.command("PING"));
            assertThat(server.isRunning()).isTrue();

            server.resume();

            assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("PONG");
        }
    }

    @Test
    void aPausedServerCanBeClosed() {
        RedisServer server = RedisServer.start();
        server.pause();

        server.close();

        assertThat(server.isRunning()).isFalse();
    }

    @Test
    void settingsReachTheServer() {
        try (RedisServer server = RedisServer.start("--requirepass", "secret", "--maxmemory", "3mb")) {
            assertThat(server.command("CONFIG", "GET", "maxmemory")).isEqualTo(List.of("maxmemory", "3145728"));
        }
    }

    @Test
    void aServerThatCannotStartSaysWhy() {
        assertThatThrownBy(() -> RedisServer.start("--no-such-setting", "1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no-such-setting");
    }

    @Test
    void theBundledRedisRuns() {
        Path directory = Scratch.directory("bundled");
        Running bundled = RedisProgram.find("embedded").start(directory, Loopback.freePort(), List.of());

        assertThat(bundled.isAlive()).isTrue();

        bundled.stop();
        assertThat(bundled.isAlive()).isFalse();
        Scratch.delete(directory);
        assertThat(Files.exists(directory)).isFalse();
    }
}
