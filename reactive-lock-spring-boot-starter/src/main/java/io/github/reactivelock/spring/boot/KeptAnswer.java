package io.github.reactivelock.spring.boot;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/** An answer to a request, and which request that was, as they stand in the record of its key. */
final class KeptAnswer {

    /** The first word of the text; another form has another. */
    private static final String FORM = "answer-1";

    private static final int WORDS = 3;

    private final String fingerprint;
    private final HttpStatusCode status;
    private final HttpHeaders headers;
    private final byte[] body;

    KeptAnswer(String fingerprint, HttpStatusCode status, HttpHeaders headers, byte[] body) {
        this.fingerprint = fingerprint;
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    /**
     * Reads what {@link #text} wrote.
     *
     * @throws IllegalArgumentException if it is anything else
     */
    static KeptAnswer read(String text) {
        List<String> lines = text.lines().toList();
        String[] first = lines.isEmpty() ? new String[0] : lines.get(0).split(" ", -1);
        if (first.length != WORDS || !first[0].equals(FORM)) {
            throw new IllegalArgumentException("the record of an idempotency key has a form that is not known here");
        }
        HttpHeaders headers = new HttpHeaders();
        for (String line : lines.subList(1, lines.size() - 1)) {
            int colon = line.indexOf(':');
            if (colon < 1) {
                throw new IllegalArgumentException("the record of an idempotency key has a line that is no header");
            }
            headers.add(line.substring(0, colon), line.substring(colon + 1));
        }
        return new KeptAnswer(
                first[1],
                HttpStatusCode.valueOf(Integer.parseInt(first[2])),
                headers,
                Base64.getDecoder().decode(lines.get(lines.size() - 1).substring(1)));
    }

    /** A line with the fingerprint and the status, one for each value of a header, one with the body. */
    String text() {
        List<String> lines = new ArrayList<>();
        lines.add(FORM + " " + fingerprint + " " + status.value());
        headers.forEach(
                (name, values) -> values.forEach(value -> lines.add(name + ":" + value.replaceAll("\\R", " "))));
        lines.add("=" + Base64.getEncoder().encodeToString(body));
        return String.join("\n", lines);
    }

    boolean isOf(String request) {
        return fingerprint.equals(request);
    }

    /** The same with a header that says so. */
    KeptAnswer marked(String header) {
        HttpHeaders all = new HttpHeaders(headers);
        all.set(header, "true");
        return new KeptAnswer(fingerprint, status, all, body);
    }

    /** Takes the place of what the response has so far, but for its cookies. Cold. */
    Mono<Void> sent(ServerHttpResponse response) {
        return Mono.defer(() -> {
            boolean unused = response.setStatusCode(status);
            response.getHeaders().clear();
            response.getHeaders().putAll(headers);
            return body(response, body);
        });
    }

    /** Sends a body behind the headers that the response has. */
    static Mono<Void> body(ServerHttpResponse response, byte[] body) {
        if (body.length == 0) {
            return response.setComplete();
        }
        response.getHeaders().setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }
}
