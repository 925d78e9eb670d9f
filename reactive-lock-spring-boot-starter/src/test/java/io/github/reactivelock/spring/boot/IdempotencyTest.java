package io.github.reactivelock.spring.boot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.r2dbc.Once;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.PostgresServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Requests with an idempotency key, over Netty, with their records in H2 and in PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IdempotencyTest {

    private static final String KEY = "Idempotency-Key";
    private static final String REPLAYED = "Idempotent-Replayed";
    private static final List<String> METRICS = List.of("management.defaults.metrics.export.enabled=true");

    private Till till;

    /** Two processes with one database. */
    private List<Till> onH2;

    private List<Till> onPostgres;
    private PostgresServer postgres;

    private static String h2() {
        return "r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1";
    }

    @BeforeAll
    void open() throws IOException {
        new Socket().close(); // else BlockHound sees the JDK load its native code
        postgres = PostgresServer.start();
        String url = h2();
        List<String> limits = List.of(
                "reactive-lock.idempotency.max-request-size=1KB", "reactive-lock.idempotency.max-response-size=1KB");
        List<String> all = new ArrayList<>(limits);
        all.addAll(METRICS);
        onH2 = List.of(Till.open(url, all), Till.open(url, limits));
        onPostgres = List.of(Till.open(postgres.url(), limits), Till.open(postgres.url(), limits));
        till = onH2.get(0);
    }

    @AfterAll
    void close() {
        onH2.forEach(Till::close);
        onPostgres.forEach(Till::close);
        postgres.close();
    }

    @BeforeEach
    void forget() {
        for (Till each : List.of(onH2.get(0), onH2.get(1), onPostgres.get(0), onPostgres.get(1))) {
            each.orders.made.clear();
            each.orders.calls.set(0);
            each.orders.gate = Sinks.empty();
        }
    }

    List<List<Till>> databases() {
        return List.of(onH2, onPostgres);
    }

    private static String key() {
        return "\"" + UUID.randomUUID() + "\"";
    }

    private static WebTestClient.ResponseSpec post(Till at, String path, String key, String body) {
        return at.client().post().uri(path).header(KEY, key).bodyValue(body).exchange();
    }

    private static EntityExchangeResult<String> answer(WebTestClient.ResponseSpec response) {
        return response.expectBody(String.class).returnResult();
    }

    private static int status(Till at, String path, String key) {
        return answer(post(at, path, key, "tea")).getStatus().value();
    }

    private static void isProblem(WebTestClient.ResponseSpec response, int status, String text) {
        response.expectStatus()
                .isEqualTo(status)
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody(String.class)
                .consumeWith(told -> assertThat(told.getResponseBody())
                        .contains("\"status\":" + status + ",", text)
                        .doesNotContain("%"));
    }

    private static long records(Till at) {
        Long count = DatabaseClient.create(at.context.getBean(ConnectionFactory.class))
                .sql("SELECT COUNT(*) FROM reactive_lock_once")
                .map(row -> ((Number) row.get(0)).longValue())
                .one()
                .block(Contexts.PATIENCE);
        return count;
    }

    @Test
    void theSameRequestIsAnsweredWithTheSameAnswerByAnyProcess() {
        String key = key();

        EntityExchangeResult<String> first = answer(post(till, "/orders?a=b", key, "tea"));
        EntityExchangeResult<String> second = answer(post(onH2.get(1), "/orders?a=b", key, "tea"));

        assertThat(first.getStatus().value()).isEqualTo(201);
        assertThat(first.getResponseHeaders().getFirst(REPLAYED)).isNull();
        assertThat(first.getResponseHeaders().getFirst("X-Trace")).isEqualTo("1");
        assertThat(first.getResponseCookies()).containsKey("seen");
        assertThat(second.getStatus().value()).isEqualTo(201);
        assertThat(second.getResponseBody()).isEqualTo("order 1").isEqualTo(first.getResponseBody());
        assertThat(second.getResponseHeaders().getLocation())
                .isEqualTo(first.getResponseHeaders().getLocation());
        assertThat(second.getResponseHeaders().getContentType())
                .isEqualTo(first.getResponseHeaders().getContentType());
        assertThat(second.getResponseHeaders().getFirst(REPLAYED)).isEqualTo("true");
        assertThat(second.getResponseHeaders().getFirst("X-Trace")).isNull();
        assertThat(second.getResponseCookies()).isEmpty();
        assertThat(till.orders.made).containsExactly("tea");
        assertThat(onH2.get(1).orders.made).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"/orders, coffee", "/orders?a=b, tea", "/slow, tea"})
    void anotherRequestWithTheKeyIsUnprocessable(String path, String body) {
        String key = key();
        assertThat(status(till, "/orders", key)).isEqualTo(201);

        isProblem(post(till, path, key, body), 422, "already used");

        assertThat(till.orders.made).containsExactly("tea");
    }

    @Test
    void keysOfTwoPrincipalsNeverMeet() {
        String key = key();
        for (String who : List.of("ann", "bob", "ann")) {
            till.client()
                    .post()
                    .uri("/orders")
                    .header(KEY, key)
                    .header("X-Who", who)
                    .bodyValue(who)
                    .exchange()
                    .expectStatus()
                    .isCreated();
        }
        assertThat(status(till, "/orders", key)).isEqualTo(201);

        assertThat(till.orders.made).containsExactly("ann", "bob", "tea");
    }

    @Test
    void aRequestWhoseFirstStillRunsIsAConflict() {
        String key = key();
        Mono<Integer> first = Mono.fromCallable(() -> status(till, "/slow", key))
                .subscribeOn(Schedulers.boundedElastic())
                .cache();
        Disposable unused = first.subscribe();
        Pause.until("it runs", () -> till.orders.calls.get() == 1);

        for (Till each : onH2) {
            WebTestClient.ResponseSpec told = post(each, "/slow", key, "tea");
            told.expectHeader().valueEquals("Retry-After", "1");
            isProblem(told, 409, "outstanding");
        }
        till.orders.gate.tryEmitEmpty();

        assertThat(first.block(Contexts.PATIENCE)).isEqualTo(201);
        assertThat(status(onH2.get(1), "/slow", key)).isEqualTo(201);
        assertThat(till.orders.made).containsExactly("tea");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aHundredSameRequestsAreOneOrder(List<Till> processes) {
        String key = key();
        List<WebClient> clients = processes.stream()
                .map(each -> WebClient.create("http://127.0.0.1:" + each.port()))
                .toList();

        List<Integer> statuses = Flux.range(0, 100)
                .flatMap(
                        i -> clients.get(i % 2)
                                .post()
                                .uri("/orders")
                                .header(KEY, key)
                                .bodyValue("tea")
                                .exchangeToMono(response -> response.releaseBody()
                                        .thenReturn(response.statusCode().value())),
                        50)
                .collectList()
                .block(Contexts.PATIENCE);

        assertThat(statuses).hasSize(100).contains(201).isSubsetOf(201, 409);
        assertThat(processes.stream().mapToInt(each -> each.orders.made.size()).sum())
                .isEqualTo(1);
        assertThat(status(processes.get(1), "/orders", key)).isEqualTo(201);
    }

    @Test
    void whatAClientWhoLeftHasBegunIsEndedAndItsAnswerKept() {
        String key = key();
        Disposable client = WebClient.create("http://127.0.0.1:" + till.port())
                .post()
                .uri("/slow")
                .header(KEY, key)
                .bodyValue("tea")
                .retrieve()
                .toBodilessEntity()
                .subscribe();
        Pause.until("it runs", () -> till.orders.calls.get() == 1);
        client.dispose();
        assertThat(status(till, "/slow", key)).isEqualTo(409);

        till.orders.gate.tryEmitEmpty();

        Pause.until("it is answered", () -> status(onH2.get(1), "/slow", key) == 201);
        assertThat(till.orders.made).containsExactly("tea");
        assertThat(onH2.get(1).orders.calls).hasValue(0);
    }

    @Configuration(proxyBeanMethods = false)
    static class ShortLease {
        @Bean
        Once once(ConnectionFactory pool) {
            return Once.using(pool).withLease(Duration.ofSeconds(10));
        }
    }

    @Test
    void aKeyWhoseProcessWasCutOffIsFreeAfterItsLease() {
        String url = h2();
        String key = key();
        // An application with an Once of its own makes no tables.
        try (Till makesTables = Till.open(url, List.of());
                Till dies = Till.open(url, List.of(), ShortLease.class);
                Till lives = Till.open(url, List.of(), ShortLease.class)) {
            Mono<Integer> first = Mono.fromCallable(() -> status(dies, "/slow", key))
                    .subscribeOn(Schedulers.boundedElastic())
                    .cache();
            Disposable unused = first.subscribe();
            Pause.until("it runs", () -> dies.orders.calls.get() == 1);
            dies.context.getBean(ConnectionPool.class).disposeLater().block(Contexts.PATIENCE);
            lives.orders.gate.tryEmitEmpty();

            Pause.until("the key is free", () -> status(lives, "/slow", key) == 201);

            assertThat(first.block(Contexts.PATIENCE)).isEqualTo(500);
            assertThat(dies.orders.made).isEmpty();
            assertThat(lives.orders.made).containsExactly("tea");
            isProblem(post(dies, "/slow", key(), "tea"), 503, "cannot be looked up");
            assertThat(makesTables.orders.made).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"/fails, 502", "/busy, 409", "/throws, 404"})
    void anAnswerThatAsksToTryAgainIsNotKeptAndFreesItsKey(String path, int status) {
        String key = key();
        long before = records(till);

        assertThat(status(till, path, key)).isEqualTo(status);
        assertThat(records(till)).isEqualTo(before);
        assertThat(status(till, path, key)).isEqualTo(status);

        assertThat(till.orders.calls).hasValue(2);
    }

    @ParameterizedTest
    @CsvSource({"/invalid, 400", "/empty, 204"})
    void anErrorOfTheClientAndAnEmptyAnswerAreKept(String path, int status) {
        String key = key();

        assertThat(status(till, path, key)).isEqualTo(status);
        EntityExchangeResult<String> again = answer(post(till, path, key, "tea"));

        assertThat(again.getStatus().value()).isEqualTo(status);
        assertThat(again.getResponseHeaders().getFirst(REPLAYED)).isEqualTo("true");
        assertThat(till.orders.calls).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "/events, cannot be used",
        "/lines, cannot be used",
        "/large, too large",
        "/long, too large",
    })
    void aStreamAndALargeAnswerAreRefusedOnceHandled(String path, String title) {
        String key = key();

        isProblem(post(till, path, key, "tea"), 500, title);
        isProblem(post(till, path, key, "tea"), 500, title);

        assertThat(till.orders.calls).hasValue(1);
        assertThat(till.orders.made).isEmpty();
    }

    @Test
    void aFormIsReadByItsHandler() {
        String key = key();
        for (int i = 0; i < 2; i++) {
            till.client()
                    .post()
                    .uri("/form")
                    .header(KEY, key)
                    .contentType(MediaType.APPLICATION_FORM_URLENCODED)
                    .bodyValue("tea=2")
                    .exchange()
                    .expectBody(String.class)
                    .isEqualTo("{tea=[2]}");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"tea", "\"\"", "\"tea", "\"a\", \"b\"", "\"\u00e4\"", "8e03978e-40d5-43e8-bc93-6894a57f9324"})
    void aHeaderThatIsNoKeyIsABadRequestAndNothingIsStored(String value) {
        long before = records(till);

        isProblem(post(till, "/orders", value, "tea"), 400, "malformed");

        assertThat(records(till)).isEqualTo(before);
        assertThat(till.orders.made).isEmpty();
    }

    @Test
    void twoHeadersAndAKeyThatIsTooLongAreBadRequests() {
        long before = records(till);

        isProblem(
                till.client()
                        .post()
                        .uri("/orders")
                        .header(KEY, "\"a\"", "\"b\"")
                        .bodyValue("tea")
                        .exchange(),
                400,
                "malformed");
        isProblem(post(till, "/orders", "\"" + "a".repeat(256) + "\"", "tea"), 400, "malformed");
        isProblem(post(till, "/orders", "\"" + "a".repeat(5000) + "\"", "tea"), 400, "malformed");

        assertThat(records(till)).isEqualTo(before);
        assertThat(till.orders.made).isEmpty();
        assertThat(status(till, "/orders", "\"" + "a".repeat(255) + "\"")).isEqualTo(201);
    }

    /** The first line of an answer to bytes that no client library sends. */
    private String answerTo(String value) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), till.port())) {
            socket.setSoTimeout((int) Contexts.PATIENCE.toMillis());
            OutputStream out = socket.getOutputStream();
            out.write(("POST /orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n" + KEY + ": "
                            + value + "\r\n\r\ntea")
                    .getBytes(ISO_8859_1));
            out.flush();
            byte[] begin = socket.getInputStream().readNBytes("HTTP/1.1 400".length());
            return new String(begin, ISO_8859_1);
        } catch (SocketException ended) {
            return ""; // the server does not read to the end what it refuses
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\"a\u0001b\"", "\"a\u0000b\"", "\"a\tb\"", "\"a\u007fb\"", "\"a\"\r\nIdempotency-Key: \"a\""})
    void controlCharactersInAKeyAreABadRequest(String value) throws IOException {
        long before = records(till);

        assertThat(answerTo(value)).isEqualTo("HTTP/1.1 400");

        assertThat(records(till)).isEqualTo(before);
        assertThat(till.orders.made).isEmpty();
    }

    @Test
    void aMegabyteInTheHeaderReachesNoHandler() throws IOException {
        long before = records(till);

        assertThat(answerTo("\"" + "a".repeat(1_000_000) + "\"")).doesNotStartWith("HTTP/1.1 2");

        assertThat(records(till)).isEqualTo(before);
        assertThat(till.orders.made).isEmpty();
    }

    @Test
    void aLargeBodyAndOneOfSeveralPartsAreRefused() {
        long before = records(till);

        isProblem(post(till, "/orders", key(), "a".repeat(2000)), 413, "too large");
        isProblem(
                till.client()
                        .post()
                        .uri("/orders")
                        .header(KEY, key())
                        .contentType(MediaType.parseMediaType("multipart/form-data;boundary=x"))
                        .bodyValue("--x--\r\n")
                        .exchange(),
                415,
                "several parts");

        assertThat(records(till)).isEqualTo(before);
        assertThat(till.orders.made).isEmpty();
        assertThat(answer(post(till, "/orders", key(), "a".repeat(1024)))
                        .getStatus()
                        .value())
                .isEqualTo(201);
    }

    @Test
    void requestsWithoutAKeyPassUnlessItIsRequired() {
        till.client()
                .post()
                .uri("/orders")
                .bodyValue("tea")
                .exchange()
                .expectStatus()
                .isCreated();
        till.client()
                .post()
                .uri("/orders")
                .bodyValue("tea")
                .exchange()
                .expectStatus()
                .isCreated();
        assertThat(till.orders.made).hasSize(2);

        try (Till strict = Till.open(
                h2(),
                List.of(
                        "reactive-lock.idempotency.required=true",
                        "reactive-lock.idempotency.paths=/orders/**",
                        "reactive-lock.idempotency.header=X-Request-Id",
                        "reactive-lock.idempotency.documentation=https://shop.example/keys"))) {
            WebTestClient client = strict.client();
            client.post()
                    .uri("/orders")
                    .bodyValue("tea")
                    .exchange()
                    .expectStatus()
                    .isBadRequest()
                    .expectBody(String.class)
                    .isEqualTo(
                            "{\"type\":\"https://shop.example/keys\",\"title\":\"X-Request-Id is missing\",\"status\":400,"
                                    + "\"detail\":\"This operation needs the header X-Request-Id.\"}");
            client.post().uri("/invalid").exchange().expectBody(String.class).isEqualTo("invalid 1");
            client.get().uri("/orders").exchange().expectStatus().isEqualTo(405);
            client.post()
                    .uri("/orders")
                    .header("X-Request-Id", "\"1\"")
                    .bodyValue("tea")
                    .exchange()
                    .expectStatus()
                    .isCreated();
            assertThat(strict.orders.made).hasSize(1);
        }
    }

    @Test
    void eachOutcomeIsCounted() {
        MeterRegistry meters = till.context.getBean(MeterRegistry.class);
        List<String> outcomes = List.of("kept", "replayed", "other_request", "malformed", "not_kept");
        List<Double> before = counts(meters, outcomes);
        String key = key();

        assertThat(IntStream.of(
                        status(till, "/orders", key),
                        status(till, "/orders", key),
                        status(till, "/slow", key),
                        status(till, "/orders", "tea"),
                        status(till, "/fails", key())))
                .containsExactly(201, 201, 422, 400, 502);

        assertThat(counts(meters, outcomes))
                .isEqualTo(before.stream().map(count -> count + 1).toList());
    }

    private static List<Double> counts(MeterRegistry meters, List<String> outcomes) {
        return outcomes.stream()
                .map(outcome -> meters.get("reactive.lock.idempotency")
                        .tag("outcome", outcome)
                        .counter()
                        .count())
                .toList();
    }
}
