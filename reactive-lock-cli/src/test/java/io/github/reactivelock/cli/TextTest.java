package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.support.StoreUrl;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How things are written and read. */
class TextTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0ms",
        "999, 999ms",
        "1000, 1s",
        "59999, 59s",
        "60000, 1m00s",
        "3599999, 59m59s",
        "3600000, 1h00m",
        "86399999, 23h59m",
        "90000000, 1d01h",
        "-5, 0ms"
    })
    void aTimeIsShownByItsTwoLargestUnits(long millis, String shown) {
        assertThat(Durations.shown(Duration.ofMillis(millis))).isEqualTo(shown);
    }

    @Test
    void aTimeThatIsNotKnownIsAHyphen() {
        assertThat(Durations.shown(null)).isEqualTo("-");
    }

    @Test
    void aTimeIsRead() {
        assertThat(List.of("500ms", "10s", "5m", "2h").stream().map(new Durations()::convert))
                .containsExactly(
                        Duration.ofMillis(500), Duration.ofSeconds(10), Duration.ofMinutes(5), Duration.ofHours(2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "s", "-5s", "0s", "1.5s", "9999999999s", "9999h", "5 s", "5d"})
    void whatIsNoTimeIsRefused(String text) {
        assertThatThrownBy(() -> new Durations().convert(text)).hasMessageContaining("but is '" + text + "'");
    }

    @Test
    void jsonIsAsciiAndEscaped() {
        Json json = new Json()
                .with("text", "\"\\\n\u0000\u00e9\ud83d\ude00")
                .with("number", 5L)
                .with("none", null)
                .with("list", List.of(new Json().with("a", true), "b"));

        assertThat(json.toString())
                .isEqualTo("{\"text\":\"\\\"\\\\\\u000a\\u0000\\u00e9\\ud83d\\ude00\",\"number\":5,\"none\":null,"
                        + "\"list\":[{\"a\":true},\"b\"]}");
        assertThat(new JsonObject(json.toString()).getString("text")).isEqualTo("\"\\\n\u0000\u00e9\ud83d\ude00");
    }

    @Test
    void columnsBeginBelowOneAnother() {
        Table table = new Table();
        table.row("KEY", "OWNER", "AGE");
        table.row("a\ud83d\ude00", "me", "1s");
        table.row("longer", "", "");

        assertThat(table.lines()).containsExactly("KEY     OWNER  AGE", "a\ud83d\ude00      me     1s", "longer");
    }

    @Test
    void aKeyCannotSteerTheTerminal() {
        assertThat(Table.visible("a\u001b[2J\nb\u202ec\u0000")).isEqualTo("a\\u{1b}[2J\\u{a}b\\u{202e}c\\u{0}");
        assertThat(Table.visible("order:42 \u00e9 \u6f22")).isEqualTo("order:42 \u00e9 \u6f22");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "delete that key, or choose another prefix with RedisBackendOptions.withPrefix"
                        + "|delete that key, or choose another prefix with --key-prefix",
                "connect to it as to a cluster (connectCluster, in Vert.x RedisClientType.CLUSTER)"
                        + "|connect to it as to a cluster (redis-cluster://)",
                "create them once with R2dbcLockBackend.createTables(), or with the file x"
                        + "|create them once with the file x",
                "create them once with R2dbcLockBackend.createTables(), in Spring Boot with a.b=always, or with the file x"
                        + "|create them once with the file x",
                "lock 'com.acme.Order' cannot be read|lock 'com.acme.Order' cannot be read",
                "asks for a user and a password: give them to the ClientBuilder (no user)"
                        + "|asks for a user and a password: give them (no user)",
                "failed: io.netty.channel.AbstractChannel$AnnotatedConnectException: Connection refused: /127.0.0.1:1"
                        + "|failed: Connection refused: /127.0.0.1:1",
                "failed: UnknownHostException: locks.example.com|failed: locks.example.com"
            })
    void anErrorOfAStoreNamesNoClassOfJava(String said, String told) {
        assertThat(Problems.inOwnWords(said)).isEqualTo(told);
    }

    @ParameterizedTest
    @CsvSource({
        "redis://host:6379/1, , , host:6379, /1",
        "redis://:p%40ss@host:6379, '', p@ss, host:6379, ''",
        "redis://user:a:b@c@host, user, a:b@c, host, ''",
        "redis://user@host, user, , host, ''",
        "rediss-sentinel://u:p@a:1;b:2/0?x=y#name, u, p, a:1;b:2, /0",
        "zookeeper://[::1]:2181/a/b, , , [::1]:2181, /a/b",
        "consul://:to%40ken@a:8500;b, '', to@ken, a:8500;b, ''",
        "r2dbc:postgresql://u:p+p@host:5432/db?sslMode=require, u, p+p, host:5432, /db",
        "postgresql://u:p+p@host:5432/db?sslMode=require, u, p+p, host:5432, /db",
        "r2dbc:h2:mem:///x, , , '', /x"
    })
    void aUrlIsTakenApart(String text, String user, String password, String hosts, String path) {
        StoreUrl url = StoreUrl.parse(text.replace(';', ','));

        assertThat(url.user()).isEqualTo(user);
        assertThat(url.password()).isEqualTo(password);
        assertThat(url.hosts()).isEqualTo(hosts.replace(';', ','));
        assertThat(url.path()).isEqualTo(path);
        assertThat(url.toString()).doesNotContain("@").doesNotContain("?");
        assertThat(StoreUrl.parse(url.text(url.name(), url.hosts())).password()).isEqualTo(password);
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://user:pa/ss@host", "redis://us/er:pass@host", "redis://user:pa#ss@host"})
    void aPasswordThatLooksLikeAPathIsRefusedAndNotShown(String url) {
        assertThatThrownBy(() -> StoreUrl.parse(url))
                .hasMessageContaining("%-escapes")
                .hasMessageNotContaining("ss@host");
    }
}
