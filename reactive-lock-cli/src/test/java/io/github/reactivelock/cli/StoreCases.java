package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.cli.Program.Ended;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Every command on one kind of store, whose locks are those of two instances of an application. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreCases {

    static final Duration LIMIT = Duration.ofSeconds(60);

    /**
     * A holder whom the store does not tell learns of a forced release after a third of it. Consul takes no shorter
     * one.
     */
    static final Duration LEASE = Duration.ofSeconds(10);

    private static final Duration ASKED_AGAIN = Duration.ofMillis(100);

    private final String prefix = "k" + UUID.randomUUID() + ":";
    private final String key = prefix + "a";
    private LockClient shop3;
    private LockClient shop5;

    /** Starts the store. */
    abstract void open() throws Exception;

    /** Stops it. */
    abstract void close() throws Exception;

    /** The URLs that name it. */
    abstract List<String> urls();

    /** How the application asks it. */
    abstract LockBackend backend();

    /** Whether the store tells for how long a lock is held. */
    abstract boolean knowsAges();

    /** The URLs of such a store that is not there. */
    List<String> nowhere() {
        return urls().stream().map(url -> url.replaceAll(":[0-9]{4,5}", ":1")).toList();
    }

    @BeforeAll
    final void start() throws Exception {
        open();
        shop3 = application("shop-3");
        shop5 = application("shop-5");
    }

    private LockClient application(String name) {
        LockClient client = LockClient.builder(backend())
                .name(name)
                .commandTimeout(LIMIT)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
        client.ready().block(LIMIT);
        return client;
    }

    @AfterAll
    final void stop() throws Exception {
        Stream.of(shop3, shop5).forEach(client -> client.close().block(LIMIT));
        close();
    }

    private Ended run(String... arguments) {
        return Program.run(with(urls(), arguments));
    }

    private Program start(String... arguments) {
        return Program.start(with(urls(), arguments));
    }

    static String[] with(List<String> urls, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        urls.forEach(url -> all.addAll(List.of("--store", url)));
        return all.toArray(String[]::new);
    }

    /** Servers that have just started are not counted in a quorum before they are up for a lease. */
    private static LockHandle held(LockClient client, String key) {
        return client.acquire(key)
                .retryWhen(Retry.fixedDelay(LIMIT.dividedBy(ASKED_AGAIN), ASKED_AGAIN)
                        .filter(LockUnavailableException.class::isInstance))
                .block(LIMIT);
    }

    /** A flow that stands in the queue at the store. */
    private CompletableFuture<LockHandle> waiting() throws InterruptedException {
        CompletableFuture<LockHandle> waiting = shop5.acquire(key).toFuture();
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!(shop3.inspect(key).block(LIMIT) instanceof LockInfo.Held now && now.waiters() == 1)) {
            assertThat(System.nanoTime() - deadline).as("a waiter in the queue").isNegative();
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return waiting;
    }

    private static void release(CompletableFuture<LockHandle> waiting) {
        waiting.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join().release().block(LIMIT);
    }

    /** As the store knows it, without the passes inside a process. */
    private static String token(LockHandle handle) {
        long store = handle.fencingToken() >> LockBackend.PASS_BITS;
        return Long.toString(store << LockBackend.PASS_BITS);
    }

    @Test
    void whatIsHeldIsListedAndShown() throws Exception {
        LockHandle first = held(shop3, key);
        LockHandle second = held(shop3, prefix + "b \u00e9");
        CompletableFuture<LockHandle> waiting = waiting();

        Ended list = run("ls", prefix);
        assertThat(list.err()).isEmpty();
        assertThat(list.code()).isZero();
        assertThat(list.lines()).hasSize(3);
        assertThat(list.lines().get(0)).matches("KEY +OWNER +HELD FOR +LEASE LEFT +WAITERS +TOKEN");
        assertThat(list.lines().get(1)).startsWith(key + " ").contains("shop-3").endsWith(token(first));
        assertThat(list.lines().get(2)).startsWith(prefix + "b \u00e9 ").endsWith(token(second));
        assertThat(run("ls", "--sort", "waiters", prefix).lines().get(1)).startsWith(key);
        assertThat(run("ls", "--limit", "1", prefix).lines()).hasSize(2);

        JsonObject json = new JsonObject(run("--json", "ls", prefix).out());
        assertThat(json.getBoolean("complete")).isTrue();
        JsonArray locks = json.getJsonArray("locks");
        assertThat(locks).hasSize(2);
        assertThat(locks.getJsonObject(1).getString("key")).isEqualTo(prefix + "b \u00e9");
        assertThat(locks.getJsonObject(0).getString("token")).isEqualTo(token(first));

        Ended show = run("show", key);
        assertThat(show.code()).isZero();
        assertThat(show.lines()).contains("key         " + key, "owner       shop-3", "token       " + token(first));
        assertThat(show.out()).containsPattern("held for +" + (knowsAges() ? "[0-9]+" : "-\n"));
        assertThat(show.out()).containsPattern("lease left +[0-9]+").containsPattern("waiters +1\n");
        assertThat(show.out()).containsPattern("waiter 1 +shop-5");

        JsonObject shown = new JsonObject(run("show", "--json", key).out());
        assertThat(shown.getBoolean("held")).isTrue();
        assertThat(shown.getString("owner")).isEqualTo("shop-3");
        assertThat(shown.getString("token")).isEqualTo(token(first));
        assertThat(shown.getLong("heldMillis") != null).isEqualTo(knowsAges());
        assertThat(shown.getLong("waiters")).isEqualTo(1);
        assertThat(shown.getJsonArray("queue").getJsonObject(0).getString("owner"))
                .isEqualTo("shop-5");

        Mono.when(first.release(), second.release()).block(LIMIT);
        release(waiting);
    }

    @Test
    void whatIsNotHeldIsToldByTheExitCode() {
        Ended show = run("show", prefix + "free");
        assertThat(show.code()).isEqualTo(1);
        assertThat(show.lines()).containsExactly("key    " + prefix + "free", "state  free");
        assertThat(run("show", "--json", prefix + "free").out().strip())
                .isEqualTo("{\"key\":\"" + prefix + "free\",\"held\":false}");

        assertThat(run("wait", prefix + "free").code()).isZero();

        Ended release = run("release", "--force", prefix + "free");
        assertThat(release.code()).isEqualTo(1);
        assertThat(release.out()).contains("nothing was removed: the lock is not held");

        Ended list = run("ls", prefix + "none");
        assertThat(list.code()).isZero();
        assertThat(list.out()).isEmpty();
        assertThat(list.err()).contains("no lock is held whose key begins with " + prefix + "none");
        assertThat(run("ls", "--json", prefix + "none").out().strip()).isEqualTo("{\"locks\":[],\"complete\":true}");
    }

    @Test
    void onlyTheHoldThatWasSeenIsRemovedAndOnlyByForce() throws Exception {
        LockHandle first = held(shop3, key);

        Ended refused = run("release", key);
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.out())
                .contains("owner       shop-3")
                .contains("nothing was removed")
                .contains("reactive-lock release --force --token " + token(first) + " " + key);
        Ended other = run("release", "--force", "--token", "4096", key);
        assertThat(other.code()).isEqualTo(1);
        assertThat(other.out()).contains("nothing was removed: the hold has another token than 4096");
        assertThat(first.isHeld()).isTrue();

        Ended removed = run("release", "--force", "--token", "" + first.fencingToken(), "--json", key);
        assertThat(removed.code()).isZero();
        JsonObject json = new JsonObject(removed.out());
        assertThat(json.getBoolean("removed")).isTrue();
        assertThat(json.getJsonObject("lock").getString("token")).isEqualTo(token(first));
        assertThat(first.lost().block(LIMIT)).isInstanceOf(LockLostException.class);

        LockHandle next = held(shop5, key);
        Ended late = run("release", "--force", "--token", token(first), key);
        assertThat(late.code()).isEqualTo(1);
        assertThat(next.isHeld()).isTrue();
        next.release().block(LIMIT);
    }

    /** Readers, whose grants are one each; a process's own readers stand behind one claim. */
    @Test
    void eachOfThoseWhoShareIsShownAndRemovedAloneOrAllTogether() {
        LockHandle stuck = held(shop3.shared(), key);
        LockHandle newest = held(shop5.shared(), key);

        assertThat(run("show", key).out())
                .contains("shared by 2, units 2")
                .containsPattern("holder \\d +shop-3, token " + token(stuck))
                .containsPattern("holder \\d +shop-5, token " + token(newest));
        assertThat(run("ls", prefix).out()).contains(" and 1 more");
        assertThat(new JsonObject(run("show", "--json", key).out()).getJsonArray("shares"))
                .hasSize(2);
        assertThat(run("release", key).out()).contains("nothing was removed");

        Ended one = run("release", "--force", "--token", token(stuck), key);
        assertThat(one.out()).contains("removed 1 of 2 holders; 1 holds the lock now");
        assertThat(one.code()).isZero();
        assertThat(stuck.lost().block(LIMIT)).isInstanceOf(LockLostException.class);
        assertThat(newest.isHeld()).isTrue();
        Ended again = run("release", "--force", "--token", token(stuck), key);
        assertThat(again.code()).isEqualTo(1);
        assertThat(again.out()).contains("nothing was removed");

        LockHandle third = held(shop3.shared(), key);
        Ended all = run("release", "--force", key);
        assertThat(all.out()).contains("removed 2 of 2 holders").doesNotContain("the lock now");
        Mono.when(newest.lost(), third.lost()).block(LIMIT);
        assertThat(run("show", key).code()).isEqualTo(1);
    }

    @Test
    void waitingEndsWithTheHold() throws Exception {
        LockHandle first = held(shop3, key);

        Ended soon = run("wait", "--at-most", "300ms", key);
        assertThat(soon.code()).isEqualTo(1);
        assertThat(soon.out()).startsWith(key + ": still held, after ");

        Program waits = start("wait", "--json", key);
        first.release().block(LIMIT);
        Ended over = waits.end();
        assertThat(over.code()).isZero();
        assertThat(new JsonObject(over.out()).getBoolean("released")).isTrue();
        assertThat(over.err()).isEmpty();
    }

    @Test
    void changesAreToldAsTheyCome() throws Exception {
        Program text = start("watch", key);
        Program json = start("watch", key, "--json");
        text.awaitLine(line -> line.endsWith("  free"));
        json.awaitLine(line -> line.startsWith("{\"event\":\"snapshot\",") && line.contains("\"held\":false"));

        LockHandle first = held(shop3, key);
        text.awaitLine(line -> line.endsWith("  acquired  token " + token(first) + "  shop-3"));
        json.awaitLine(line -> line.startsWith("{\"event\":\"acquired\",")
                && line.contains("\"owner\":\"shop-3\",\"token\":\"" + token(first)));
        first.release().block(LIMIT);
        text.awaitLine(line -> line.endsWith("  released  token " + token(first)));
        json.awaitLine(line -> line.startsWith("{\"event\":\"released\","));

        Ended ended = text.interrupt();
        assertThat(ended.code()).isEqualTo(130);
        assertThat(ended.err()).isEmpty();
        json.interrupt()
                .out()
                .lines()
                .forEach(line ->
                        assertThat(new JsonObject(line).getInstant("time")).isNotNull());
    }

    @Test
    void aStoreThatIsNotThereIsNamedInOneLine() {
        assumeTrue(!nowhere().equals(urls()), "this store is always there");
        for (String command : List.of("show", "watch", "wait")) {
            Ended ended = Program.run(with(nowhere(), command, key, "--timeout", "5s"));

            assertThat(ended.err().lines()).hasSize(1);
            assertThat(ended.err())
                    .contains(nowhere().get(0).replaceFirst("//.*@", "//").replaceFirst("\\?.*", ""));
            assertThat(ended.code()).isEqualTo(3);
            assertThat(ended.out()).isEmpty();
        }
    }
}
