package io.github.reactivelock.spring.boot;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A response whose body is held back until its record is written. A stream is not begun. */
final class CapturedResponse extends ServerHttpResponseDecorator {

    private static final List<MediaType> STREAMS = List.of(
            MediaType.TEXT_EVENT_STREAM,
            MediaType.APPLICATION_NDJSON,
            MediaType.parseMediaType("application/stream+json"),
            MediaType.parseMediaType("multipart/x-mixed-replace"));
    private static final List<HttpStatus> TRY_AGAIN =
            List.of(HttpStatus.REQUEST_TIMEOUT, HttpStatus.TOO_EARLY, HttpStatus.TOO_MANY_REQUESTS);

    /** What can be kept of the answer. */
    enum Kind {
        /** All of it. */
        WHOLE,
        /** Nothing: it has no end that is known. */
        STREAM,
        /** Nothing: it is larger than what is kept. */
        TOO_LARGE
    }

    private final int limit;
    private final AtomicBoolean committed = new AtomicBoolean();
    private volatile Kind kind = Kind.WHOLE;
    private volatile byte[] body = {};

    CapturedResponse(ServerHttpResponse response, int limit) {
        super(response);
        this.limit = limit;
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> given) {
        return Mono.defer(() -> {
            committed.set(true);
            MediaType type = getHeaders().getContentType();
            if (type != null && STREAMS.stream().anyMatch(type::isCompatibleWith)) {
                kind = Kind.STREAM;
                return Mono.empty();
            }
            // Not the given one, because the limit is not for a Mono.
            return DataBufferUtils.join(Flux.from(given), limit)
                    .doOnNext(whole -> body = bytes(whole))
                    .onErrorResume(DataBufferLimitException.class, large -> {
                        kind = Kind.TOO_LARGE;
                        return Mono.empty();
                    })
                    .then();
        });
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> given) {
        return writeWith(Flux.from(given).concatMap(part -> part));
    }

    @Override
    public Mono<Void> setComplete() {
        return Mono.fromRunnable(() -> committed.set(true));
    }

    @Override
    public boolean isCommitted() {
        return committed.get();
    }

    Kind kind() {
        return kind;
    }

    byte[] body() {
        return body;
    }

    HttpStatusCode status() {
        HttpStatusCode set = getStatusCode();
        return set == null ? HttpStatus.OK : set;
    }

    /** Whether the client may have another answer with the same key: the server failed, or said when to come again. */
    boolean asksToTryAgain() {
        return status().is5xxServerError()
                || TRY_AGAIN.stream().anyMatch(each -> each.isSameCodeAs(status()))
                || getHeaders().containsHeader(HttpHeaders.RETRY_AFTER);
    }

    /** Sends what was held back, with all headers. Cold. */
    Mono<Void> sent() {
        return Mono.defer(() -> KeptAnswer.body(getDelegate(), body));
    }

    static byte[] bytes(DataBuffer buffer) {
        byte[] bytes = new byte[buffer.readableByteCount()];
        DataBuffer unused = buffer.read(bytes);
        boolean unusedToo = DataBufferUtils.release(buffer);
        return bytes;
    }
}
