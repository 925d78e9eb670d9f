package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Which agent is asked, and what is said when none answers. */
class AgentsTest extends Fixture {

    private static final int MANY = 40;

    @Test
    void theNextAgentIsAskedWhenOneIsNotThere() {
        LockClient client = client(
                ConsulLockBackend.connect("127.0.0.1:" + Loopback.freePort() + "," + server.uri(), Consuls.patient()));

        assertThat(Consuls.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
    }

    @Test
    void anAgentThatFallsSilentCostsNoHoldAndNoWaiter() {
        try (TcpProxy first = TcpProxy.to(server.port())) {
            ConsulLockBackend backend =
                    ConsulLockBackend.connect("127.0.0.1:" + first.port() + "," + server.uri(), Consuls.patient());
            LockClient client = client(backend);
            LockHandle held = Consuls.get(client.acquire(key));
            String second = key + " waits";
            LockHandle before = Consuls.get(client().acquire(second));
            CompletableFuture<LockHandle> waiting = client.acquire(second).toFuture();
            LockClient observer = client();
            Consuls.until(
                    "it waits",
                    () -> Consuls.get(observer.inspect(second))
                            .held()
                            .map(info -> info.waiters() == 1)
                            .orElse(false));

            first.freeze();
            Consuls.done(before.release());

            Consuls.until("the waiter was served through the other agent", waiting::isDone);
            Consuls.done(Consuls.patiently(held.renew()));
            assertThat(held.isHeld()).isTrue();
            Consuls.done(held.release());
            Consuls.done(waiting.join().release());
        }
    }

    @Test
    void aForgottenConnectionOfAWatchInterruptsPushesOnly() {
        try (TcpProxy way = TcpProxy.to(server.port())) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect("127.0.0.1:" + way.port(), Consuls.patient()));
            Queue<Signal> signals = listen(backend);
            signals.clear();

            Consuls.until("the connection of the watch is forgotten", () -> way.forget("index=") > 0);

            Consuls.until("pushes arrive again", () -> signals.contains(new Signal.Reconnected()));
            LockHandle held = Consuls.get(client(backend).acquire(key));
            Consuls.done(held.release());
            closeAll(); // by a way that is there, or the session would end by its TTL only
        }
    }

    /** As where an agent moved to another address, or a NAT forgot its connections. */
    @Test
    void aSilenceCondemnsTheConnectionsThatWereIdle() {
        try (TcpProxy way = TcpProxy.to(server.port())) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect("127.0.0.1:" + way.port(), Consuls.patient()));
            Consuls.done(Flux.range(0, MANY)
                    .flatMap(i -> backend.inspect(key + i), MANY)
                    .then());
            assertThat(way.connections()).isGreaterThan(1);

            way.forget();

            assertThat(Consuls.error(backend.inspect(key))).hasMessageContaining("silence of");
            assertThat(Consuls.get(backend.inspect(key)).held()).isEmpty();
        }
    }

    /** An event loop that has ended takes no cancel: it throws at the caller. */
    @Test
    void aCloseEndsWhatHasNoAnswerBeforeItsConnections() {
        try (TcpProxy way = TcpProxy.to(server.port())) {
            Agents agents = new Agents("127.0.0.1:" + way.port(), null, ConsulBackendOptions.defaults());
            way.freeze();
            Queue<Throwable> ends = new ConcurrentLinkedQueue<>();
            List<Disposable> waits = Stream.concat(
                            Stream.generate(() -> agents.watch(Question.get("kv/" + key), Duration.ofMinutes(1)))
                                    .limit(MANY),
                            Stream.generate(() -> agents.ask(Question.get("kv/" + key)))
                                    .limit(2 * MANY))
                    .map(asked -> asked.subscribe(answer -> {}, ends::add))
                    .toList();

            CompletableFuture<Void> closing = agents.close().toFuture();

            // By now, and not when the connections end.
            assertThat(ends)
                    .hasSize(waits.size())
                    .allSatisfy(error -> assertThat(error).hasMessage("this Consul lock backend is closed"));
            closing.join();
            waits.forEach(Disposable::dispose);
        }
    }

    @Test
    void whatIsWrongIsSaidWhereNoAgentAnswers() {
        String nowhere = "127.0.0.1:" + Loopback.freePort();
        LockClient client = client(ConsulLockBackend.connect(nowhere));

        assertThat(Consuls.error(client.acquire(key)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("Consul at http://" + nowhere)
                .hasMessageContaining("onnection refused");
    }

    /** As a SIGSTOP does, what keeps the timer delays all limits, and answers are read before these are looked at. */
    @Test
    void whatPassesIsAskedAgainAfterAPauseLongerThanACommandsTime() {
        Duration time = Duration.ofSeconds(2);
        Duration pause = time.plusSeconds(1);
        AtomicInteger asked = new AtomicInteger();
        DisposableServer agent = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    if (asked.incrementAndGet() > 1) {
                        return response.sendString(Mono.just("[]"));
                    }
                    Disposable unused = DriverThreads.timer().schedule(() -> spin(pause.plusSeconds(3)));
                    return Mono.delay(pause).then(response.status(500).send());
                })
                .bindNow();
        Agents agents = new Agents(
                "127.0.0.1:" + agent.port(),
                null,
                ConsulBackendOptions.defaults().withCommandTimeout(time));

        Answer answer = Consuls.get(agents.ask(Question.get("kv/" + key)));

        assertThat(answer.status()).isEqualTo(Answer.OK);
        assertThat(asked).hasValue(2);
        Consuls.done(agents.close());
        agent.disposeNow();
    }

    private static void spin(Duration time) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < time.toNanos()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void eachAgentThatWasAskedAndSaidNothingIsNamed() {
        try (TcpProxy first = TcpProxy.to(server.port());
                TcpProxy second = TcpProxy.to(server.port())) {
            first.freeze();
            second.freeze();
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(
                    "127.0.0.1:" + first.port() + ",127.0.0.1:" + second.port(), Consuls.patient()));

            assertThat(Consuls.error(backend.inspect(key)))
                    .hasMessageContaining("silence of http://127.0.0.1:" + first.port())
                    .hasMessageContaining("silence of http://127.0.0.1:" + second.port());
        }
    }

    @Test
    void anAddressThatIsNoneIsRefusedAtOnceWithoutASecret() {
        assertThatThrownBy(() -> ConsulLockBackend.connect("http://user:secret@consul:8500"))
                .hasMessageContaining("an agent's address must be")
                .hasMessageNotContaining("secret");
        for (String address : List.of("user:secret@consul:8500", "http://user:secret@con sul")) {
            assertThatThrownBy(() -> ConsulLockBackend.connect(address))
                    .hasMessageContaining("an agent's address must be")
                    .hasMessageNotContaining("secret");
        }
        for (String address : List.of("redis://consul", "consul:8500/path", "http://consul?stale", "http://consul#a")) {
            assertThatThrownBy(() -> ConsulLockBackend.connect(address))
                    .hasMessageContaining("an agent's address must be");
        }
        assertThat(ConsulLockBackend.connect("consul-1, https://consul-2/"))
                .hasToString("Consul at http://consul-1:8500,https://consul-2:8501, prefix reactivelock");
    }
}
