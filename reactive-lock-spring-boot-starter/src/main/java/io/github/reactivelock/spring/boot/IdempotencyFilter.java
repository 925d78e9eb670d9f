package io.github.reactivelock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.reactivelock.r2dbc.Once;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/**
 * Carries out a request with an idempotency key once, as draft-ietf-httpapi-idempotency-key-header says, and answers
 * the same request with the same answer. A request that was begun goes on when its client leaves.
 */
final class IdempotencyFilter implements WebFilter, Ordered {

    private static final Logger log = LoggerFactory.getLogger(IdempotencyFilter.class);

    /** As others call it that replay. */
    private static final String REPLAYED = "Idempotent-Replayed";

    private static final String SECONDS = "1";

    /** The answer is for its client alone. */
    private static final class NotKept extends RuntimeException {

        private static final long serialVersionUID = 1L;

        NotKept() {
            super("not kept", null, false, false);
        }
    }

    private final Once once;
    private final IdempotencyProperties properties;
    private final List<PathPattern> paths;
    private final Consumer<IdempotencyOutcome> meters;

    IdempotencyFilter(Once once, IdempotencyProperties properties, Consumer<IdempotencyOutcome> meters) {
        this.once = once;
        this.properties = properties;
        this.paths = properties.paths().stream()
                .map(PathPatternParser.defaultInstance::parse)
                .toList();
        this.meters = meters;
    }

    /** Behind what authenticates, such as Spring Security, and before filters of the application without an order. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE - 100;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        ServerHttpRequest request = exchange.getRequest();
        if (!isMeant(request)) {
            return chain.filter(exchange);
        }
        List<String> values = request.getHeaders().getOrDefault(properties.header(), List.of());
        if (values.isEmpty()) {
            return properties.required() ? problem(exchange, IdempotencyOutcome.MISSING) : chain.filter(exchange);
        }
        Optional<String> key =
                values.size() == 1 ? IdempotencyKey.read(values.get(0), properties.maxKeyLength()) : Optional.empty();
        if (key.isEmpty()) {
            return problem(exchange, IdempotencyOutcome.MALFORMED);
        }
        MediaType type = request.getHeaders().getContentType();
        if (type != null && type.getType().equals("multipart")) {
            return problem(exchange, IdempotencyOutcome.MULTIPART);
        }
        return body(request)
                .flatMap(body -> body.isEmpty()
                        ? problem(exchange, IdempotencyOutcome.REQUEST_TOO_LARGE)
                        : name(exchange, key.get())
                                .flatMap(name -> new Run(exchange, body.get(), name).through(chain)));
    }

    private boolean isMeant(ServerHttpRequest request) {
        return properties.methods().contains(request.getMethod().name())
                && paths.stream()
                        .anyMatch(path -> path.matches(request.getPath().pathWithinApplication()));
    }

    /** Empty if it is too large. */
    private Mono<Optional<byte[]>> body(ServerHttpRequest request) {
        return DataBufferUtils.join(
                        request.getBody(), (int) properties.maxRequestSize().toBytes())
                .map(CapturedResponse::bytes)
                .defaultIfEmpty(new byte[0])
                .map(Optional::of)
                .onErrorResume(DataBufferLimitException.class, large -> Mono.just(Optional.empty()));
    }

    /** The key's name in the store. Keys of two principals never meet, and none can be read there. */
    private static Mono<String> name(ServerWebExchange exchange, String key) {
        return exchange.getPrincipal()
                .map(Principal::getName)
                .map(who -> hash("of", who, key))
                .defaultIfEmpty(hash("anonymous", key))
                .map(hash -> "idempotency:" + hash);
    }

    private Mono<Void> problem(ServerWebExchange exchange, IdempotencyOutcome outcome) {
        return Mono.defer(() -> {
            meters.accept(outcome);
            return answer("", outcome).sent(exchange.getResponse());
        });
    }

    private KeptAnswer answer(String fingerprint, IdempotencyOutcome outcome) {
        HttpHeaders headers = new HttpHeaders();
        headers.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        if (outcome == IdempotencyOutcome.RUNNING || outcome == IdempotencyOutcome.UNAVAILABLE) {
            headers.set(HttpHeaders.RETRY_AFTER, SECONDS);
        }
        String type = properties.documentation() == null
                ? "about:blank"
                : properties.documentation().toASCIIString();
        return new KeptAnswer(
                fingerprint,
                outcome.status,
                headers,
                outcome.json(properties.header(), type).getBytes(UTF_8));
    }

    private static String hash(String... parts) {
        MessageDigest digest = sha256();
        for (String part : parts) {
            add(digest, part.getBytes(UTF_8));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** With its length, so that no two lists of parts are the same bytes. */
    private static void add(MessageDigest digest, byte[] part) {
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
        digest.update(part);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    /** One request with a key. */
    private final class Run {

        private final ServerWebExchange exchange;
        private final byte[] body;
        private final String name;
        private final String fingerprint;
        private final CapturedResponse response;
        private final AtomicBoolean began = new AtomicBoolean();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Run(ServerWebExchange exchange, byte[] body, String name) {
            this.exchange = exchange;
            this.body = body;
            this.name = name;
            this.response = new CapturedResponse(
                    exchange.getResponse(), (int) properties.maxResponseSize().toBytes());
            ServerHttpRequest request = exchange.getRequest();
            MessageDigest digest = sha256();
            add(digest, request.getMethod().name().getBytes(UTF_8));
            add(digest, request.getURI().getRawPath().getBytes(UTF_8));
            add(digest, String.valueOf(request.getURI().getRawQuery()).getBytes(UTF_8));
            add(digest, body);
            this.fingerprint = HexFormat.of().formatHex(digest.digest());
        }

        Mono<Void> through(WebFilterChain chain) {
            return recorded(chain)
                    .map(this::answered)
                    .defaultIfEmpty(problem(exchange, IdempotencyOutcome.RUNNING))
                    .onErrorResume(error -> Mono.just(failed(error)))
                    .flatMap(Function.identity());
        }

        /**
         * Cached, so that what the work has begun is ended and recorded also when the client has left. A cache has the
         * Context of a subscriber that has not left.
         */
        private Mono<String> recorded(WebFilterChain chain) {
            return Mono.deferContextual(context -> once.recorded(name, properties.ttl(), work(chain))
                    .contextWrite(context)
                    .cache());
        }

        private Mono<String> work(WebFilterChain chain) {
            return Mono.defer(() -> {
                        began.set(true);
                        return chain.filter(new ReadExchange(exchange, body, response));
                    })
                    .doOnError(failure::set)
                    .then(Mono.fromSupplier(() -> switch (response.kind()) {
                        case STREAM ->
                            answer(fingerprint, IdempotencyOutcome.STREAM).text();
                        case TOO_LARGE ->
                            answer(fingerprint, IdempotencyOutcome.RESPONSE_TOO_LARGE)
                                    .text();
                        case WHOLE -> {
                            if (response.asksToTryAgain()) {
                                throw new NotKept();
                            }
                            yield whole().text();
                        }
                    }));
        }

        private KeptAnswer whole() {
            HttpHeaders kept = new HttpHeaders();
            for (String header : properties.responseHeaders()) {
                response.getHeaders().getOrDefault(header, List.of()).forEach(value -> kept.add(header, value));
            }
            return new KeptAnswer(fingerprint, response.status(), kept, response.body());
        }

        private Mono<Void> answered(String text) {
            if (!began.get()) {
                KeptAnswer kept = KeptAnswer.read(text);
                return kept.isOf(fingerprint)
                        ? counted(
                                IdempotencyOutcome.REPLAYED,
                                kept.marked(REPLAYED).sent(exchange.getResponse()))
                        : problem(exchange, IdempotencyOutcome.OTHER_REQUEST);
            }
            return switch (response.kind()) {
                case WHOLE -> counted(IdempotencyOutcome.KEPT, response.sent());
                case STREAM -> refused(IdempotencyOutcome.STREAM);
                case TOO_LARGE -> refused(IdempotencyOutcome.RESPONSE_TOO_LARGE);
            };
        }

        private Mono<Void> failed(Throwable error) {
            if (error instanceof NotKept) {
                return counted(IdempotencyOutcome.NOT_KEPT, response.sent());
            }
            if (error == failure.get()) {
                return counted(IdempotencyOutcome.NOT_KEPT, Mono.error(error));
            }
            IdempotencyOutcome outcome = began.get() ? IdempotencyOutcome.INTERRUPTED : IdempotencyOutcome.UNAVAILABLE;
            log.warn("{}: {}", outcome.status.value(), error.getMessage());
            return problem(exchange, outcome);
        }

        /** For the developers: requests of this kind always end so. */
        private Mono<Void> refused(IdempotencyOutcome outcome) {
            log.error(
                    "{} {}: a request with an idempotency key was handled, and its answer cannot be kept ({}); leave this"
                            + " path out of reactive-lock.idempotency.paths, or raise max-response-size",
                    exchange.getRequest().getMethod(),
                    exchange.getRequest().getPath().pathWithinApplication().value(),
                    outcome.word());
            return problem(exchange, outcome);
        }

        private Mono<Void> counted(IdempotencyOutcome outcome, Mono<Void> then) {
            return Mono.defer(() -> {
                meters.accept(outcome);
                return then;
            });
        }
    }
}
