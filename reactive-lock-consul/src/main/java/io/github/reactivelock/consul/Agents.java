package io.github.reactivelock.consul;

import io.github.reactivelock.spi.support.Departures;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.Silence;
import io.github.reactivelock.spi.support.SilenceClock;
import io.netty.buffer.Unpooled;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * The agents that may be asked, one at a time: the next one when that does not answer. All questions are such that they
 * may be put twice; an answer says whether that may have happened. Watches have connections of their own, so that they
 * keep no command waiting. Safe for use from any thread.
 */
final class Agents {

    private static final Logger log = LoggerFactory.getLogger(Agents.class);

    /** An agent takes 200 connections from one address, unless its configuration has another number. */
    static final int COMMANDS = 48;

    /** For questions about holds, which stand behind no others. */
    private static final int HOLDS = 16;

    static final int WATCHES = 96;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);
    private static final Duration LONGEST_IN_LINE = Duration.ofSeconds(40);
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(30);
    private static final Duration NEVER = Duration.ofDays(1);
    private static final Duration ENDING = Duration.ofSeconds(2);
    private static final SilenceClock PAUSES = SilenceClock.ofThisProcess();

    private final List<String> uris;
    private final ConsulBackendOptions options;
    private final @Nullable HttpClient users;
    private final Departures departures = new Departures(COMMANDS);
    private final Silence silence = new Silence();
    private final AtomicInteger present = new AtomicInteger();
    private final AtomicReference<@Nullable Clients> opened = new AtomicReference<>();
    /** Emits whenever another agent is asked from then on. */
    private final Sinks.Many<Integer> changes = Sinks.many().multicast().directBestEffort();

    /** Ends what has no answer while there are event loops still: a cancel that came later would throw. */
    private final Sinks.Empty<Void> ending = Sinks.empty();

    private volatile boolean closed;
    /** When an agent fell silent last; what was idle then may be as dead as the connection that it was silent on. */
    private volatile @Nullable Long lastSilence;

    private record Clients(HttpClient commands, HttpClient watches, Mono<Void> end) {}

    /** An answer that says: not now. */
    private static final class Passing extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Passing(Answer answer) {
            super(answer.status() + ": " + answer.body().strip(), null, false, false);
        }
    }

    Agents(String addresses, @Nullable HttpClient users, ConsulBackendOptions options) {
        this.uris = Stream.of(addresses.split(",", -1)).map(Agents::uri).toList();
        this.users = users;
        this.options = options;
    }

    private static String uri(String address) {
        String text = address.strip();
        String whole = text.contains("://") ? text : "http://" + text;
        URI uri;
        try {
            uri = URI.create(whole.endsWith("/") ? whole.substring(0, whole.length() - 1) : whole);
        } catch (IllegalArgumentException repeatsIt) {
            throw unfit(text);
        }
        boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        boolean hasMore = !uri.getSchemeSpecificPart().equals("//" + uri.getAuthority()) || uri.getFragment() != null;
        if (!isHttp || uri.getHost() == null || uri.getUserInfo() != null || hasMore) {
            throw unfit(text);
        }
        return uri.getPort() >= 0 ? uri.toString() : uri + ("https".equals(uri.getScheme()) ? ":8501" : ":8500");
    }

    private static IllegalArgumentException unfit(String address) {
        return new IllegalArgumentException("an agent's address must be HOST:PORT, http://HOST:PORT or"
                + " https://HOST:PORT, without a user and a path, but is '"
                + address.replaceAll("(?s)^(\\w+://)?.*@", "$1…@")
                + "'");
    }

    /** The agents, for people. */
    String names() {
        return String.join(",", uris);
    }

    boolean isClosed() {
        return closed;
    }

    /** What watches something begins anew then. */
    Flux<Integer> changes() {
        return changes.asFlux();
    }

    /** Whether there are more questions than may leave, so that one without an answer may stand in line. */
    boolean isCrowded() {
        return departures.isCrowded();
    }

    /**
     * An answer to a question that may be put again; an error says why there is none in a command's time, which is
     * counted from when the question left. It stands in line only while the agents answer others.
     */
    Mono<Answer> ask(Question question) {
        return departures
                .inTurn(question.rank(), answer(question))
                .timeout(
                        silence.of(options.commandTimeout().multipliedBy(2)),
                        Mono.error(() -> explained(new TimeoutException(), "silence")));
    }

    private Mono<Answer> answer(Question question) {
        return Mono.defer(() -> {
            AtomicBoolean mayHaveBeenCarriedOut = new AtomicBoolean();
            AtomicReference<@Nullable Throwable> last = new AtomicReference<>();
            Set<String> said = Collections.synchronizedSet(new LinkedHashSet<>()); // by each agent that was asked
            AtomicReference<@Nullable String> asked = new AtomicReference<>();
            Mono<Answer> answered = Mono.defer(() -> {
                        asked.set(uris.get(present.get() % uris.size()));
                        return attempt(question, partOfTheTime(), mayHaveBeenCarriedOut);
                    })
                    .doOnError(error -> {
                        asked.set(null);
                        last.set(error);
                        said.add(text(error));
                    })
                    .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).filter(Agents::passes));
            return PAUSES.timeout(answered, options.commandTimeout(), Mono.error(TimeoutException::new))
                    .map(answer -> answer.afterOthers(mayHaveBeenCarriedOut.get()))
                    .onErrorMap(error -> {
                        Throwable before = last.get();
                        String silent = asked.get();
                        if (error instanceof TimeoutException && silent != null) {
                            said.add(text(silenceOf(silent)));
                        }
                        return before == null
                                ? explained(error, String.join("; ", said))
                                : explained(isRefused(before) ? before : error, String.join("; ", said));
                    });
        });
    }

    /** One try, at one agent, whose failure moves to the next one. */
    private Mono<Answer> attempt(Question question, Duration limit, AtomicBoolean mayHaveBeenCarriedOut) {
        int agent = present.get();
        return PAUSES.timeout(
                        send(client().commands, agent, question, Sinks.empty()),
                        limit,
                        Mono.error(() -> silenceOf(uris.get(agent % uris.size()))))
                .doOnNext(answer -> silence.answered())
                .flatMap(answer -> answer.passes() ? Mono.error(new Passing(answer)) : Mono.just(answer))
                .doOnError(error -> {
                    if (!isNotSent(error)) {
                        mayHaveBeenCarriedOut.set(true);
                    }
                    moveOn(agent, error);
                });
    }

    /** Each of several agents gets its share of a command's time. */
    private Duration partOfTheTime() {
        return options.commandTimeout().dividedBy(Math.min(uris.size(), 3));
    }

    /** A question whose answer the agent puts off; how long, is counted from when the question left. */
    Mono<Answer> watch(Question question, Duration longest) {
        return Mono.defer(() -> {
            int agent = present.get();
            Sinks.Empty<Void> left = Sinks.empty();
            // It may wait for a connection, and one that dies just when it is made may say nothing of that.
            Mono<Void> silence =
                    Mono.firstWithSignal(left.asMono().then(PAUSES.silence(longest)), PAUSES.silence(LONGEST_IN_LINE));
            return send(client().watches, agent, question, left)
                    .timeout(silence, Mono.error(() -> silent(left, agent)))
                    .flatMap(answer -> answer.passes() ? Mono.error(new Passing(answer)) : Mono.just(answer))
                    .doOnError(Agents::passes, error -> moveOn(agent, error))
                    .onErrorMap(error -> explained(error, text(error)));
        });
    }

    private Exception silent(Sinks.Empty<Void> left, int agent) {
        return Boolean.TRUE.equals(left.scan(Scannable.Attr.TERMINATED))
                ? silenceOf(uris.get(agent % uris.size()))
                : new IllegalStateException("there was no connection in time");
    }

    /** A NAT forgets all connections to an agent together, and an agent that moved answers on new ones only. */
    private TimeoutException silenceOf(String uri) {
        lastSilence = System.nanoTime();
        return new TimeoutException("silence of " + uri);
    }

    private Mono<Answer> send(HttpClient client, int agent, Question question, Sinks.Empty<Void> left) {
        Mono<Answer> answered = client.request(question.method())
                .uri(uris.get(agent % uris.size()) + "/v1/" + question.path())
                .send((request, out) -> {
                    left.tryEmitEmpty();
                    return question.body().isEmpty()
                            ? out
                            : out.sendObject(Unpooled.copiedBuffer(question.body(), StandardCharsets.UTF_8));
                })
                .responseSingle((response, body) -> body.asString(StandardCharsets.UTF_8)
                        .defaultIfEmpty("")
                        .map(text -> new Answer(
                                response.status().code(),
                                index(response.responseHeaders().get("X-Consul-Index")),
                                text,
                                false)));
        return DriverThreads.subscribing(answered).timeout(ending.asMono(), Mono.error(ConsulFailure::closed));
    }

    private static long index(@Nullable String header) {
        return header == null ? 0 : Long.parseLong(header);
    }

    private void moveOn(int agent, Throwable error) {
        if (uris.size() > 1 && present.compareAndSet(agent, (agent + 1) % uris.size())) {
            log.info(
                    "Consul at {} does not answer ({}); {} is asked now",
                    uris.get(agent),
                    text(error),
                    uris.get(present.get()));
            changes.tryEmitNext(agent);
        }
    }

    /** A certificate that is not trusted does not pass. */
    private static boolean passes(Throwable error) {
        return error instanceof Passing
                || (error instanceof IOException && !(error instanceof SSLException))
                || error instanceof TimeoutException;
    }

    private static boolean isNotSent(Throwable error) {
        return error instanceof ConnectException
                || error instanceof ConnectTimeoutException
                || error instanceof UnknownHostException
                || error instanceof SSLHandshakeException;
    }

    /** Nothing listens there, so that more time helps only if something begins to. */
    static boolean isRefused(@Nullable Throwable error) {
        return error instanceof ConnectException && !(error instanceof ConnectTimeoutException);
    }

    private static String text(Throwable error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }

    private ConsulFailure explained(Throwable error, String last) {
        if (error instanceof ConsulFailure known) {
            return known;
        }
        if (closed) {
            return ConsulFailure.closed();
        }
        return passes(error) // or its time is over
                ? ConsulFailure.silent(names(), last, error)
                : ConsulFailure.notAsked(names(), error);
    }

    private Clients client() {
        Clients known = opened.get();
        if (known != null && !closed) {
            return known;
        }
        if (closed) {
            throw ConsulFailure.closed();
        }
        Clients fresh = DriverThreads.call(this::open);
        if (opened.compareAndSet(null, fresh)) {
            return fresh;
        }
        FireAndForget.run("closing a surplus client", fresh.end);
        return client();
    }

    private Clients open() {
        if (users != null) {
            return new Clients(configured(users), configured(users), Mono.empty());
        }
        LoopResources loop = LoopResources.create("reactive-lock-consul", 1, true);
        ConnectionProvider commands = connections("commands", COMMANDS + HOLDS);
        ConnectionProvider watches = connections("watches", WATCHES);
        Mono<Void> end =
                commands.disposeLater().then(watches.disposeLater()).then(loop.disposeLater(Duration.ZERO, ENDING));
        return new Clients(client(commands, loop), client(watches, loop), end);
    }

    private HttpClient client(ConnectionProvider connections, LoopResources loop) {
        return configured(HttpClient.create(connections).runOn(loop, false));
    }

    private HttpClient configured(HttpClient client) {
        // What is put again, and whether it may have been carried out, is known here only.
        HttpClient plain = client.disableRetry(true).keepAlive(true);
        return options.token().isEmpty()
                ? plain
                : plain.headers(headers -> headers.set("X-Consul-Token", options.token()));
    }

    private ConnectionProvider connections(String what, int most) {
        return ConnectionProvider.builder("reactive-lock-consul-" + what)
                .maxConnections(most)
                .pendingAcquireMaxCount(-1)
                .pendingAcquireTimeout(NEVER)
                .pendingAcquireTimer(
                        (task, delay) -> DriverThreads.timer().schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS))
                .evictionPredicate((connection, known) -> !connection.channel().isActive()
                        || !connection.isPersistent()
                        || mayBeDead(Duration.ofMillis(known.idleTime())))
                .build();
    }

    private boolean mayBeDead(Duration idle) {
        Long silent = lastSilence;
        return idle.compareTo(LONGEST_IDLE) > 0 || (silent != null && idle.toNanos() >= System.nanoTime() - silent);
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            departures.letAllGo();
            ending.tryEmitEmpty();
            Clients last = opened.get();
            // Netty ends a loop on a thread of its own, which has no class loader of a user.
            return last == null ? Mono.<Void>empty() : last.end.publishOn(DriverThreads.mayBlock());
        });
    }
}
