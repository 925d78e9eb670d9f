package io.github.reactivelock.spring.boot;

import java.util.Locale;
import org.springframework.http.HttpStatus;

/** What became of a request, as meters count it; those with a detail are problems that clients are told. */
enum IdempotencyOutcome {
    /** It was carried out, and its answer is kept. */
    KEPT(HttpStatus.OK, "", ""),
    /** It was carried out, and may be carried out again: it failed. */
    NOT_KEPT(HttpStatus.OK, "", ""),
    /** It was answered from the record. */
    REPLAYED(HttpStatus.OK, "", ""),
    /** It has no key. */
    MISSING(HttpStatus.BAD_REQUEST, "%s is missing", "This operation needs the header %s."),
    /** Its key is none. */
    MALFORMED(
            HttpStatus.BAD_REQUEST,
            "%s is malformed",
            "The header %s has to be one string of printable ASCII characters in double quotes, not longer than allowed."),
    /** Its body cannot be compared with another one. */
    MULTIPART(
            HttpStatus.UNSUPPORTED_MEDIA_TYPE,
            "%s is not for forms of several parts",
            "A body of several parts is another one each time that it is sent, so %s cannot be used with it."),
    /** Its body is larger than what is read for a key. */
    REQUEST_TOO_LARGE(
            HttpStatus.CONTENT_TOO_LARGE,
            "The request is too large for %s",
            "The body of a request with the header %s has to be smaller."),
    /** Another one is carried out with its key. */
    RUNNING(
            HttpStatus.CONFLICT,
            "A request is outstanding for this %s",
            "A request with the same %s is being carried out. Try again soon."),
    /** Its key belongs to another one. */
    OTHER_REQUEST(
            HttpStatus.UNPROCESSABLE_CONTENT,
            "%s is already used",
            "Another request was sent with the same %s. Take a new one for each request."),
    /** It was carried out, and no answer can be kept. */
    STREAM(
            HttpStatus.INTERNAL_SERVER_ERROR,
            "This operation cannot be used with %s",
            "The request was handled, but it is answered with a stream, which is not kept for a %s. It is not handled"
                    + " again for this key."),
    /** It was carried out, and its answer is larger than what is kept. */
    RESPONSE_TOO_LARGE(
            HttpStatus.INTERNAL_SERVER_ERROR,
            "The answer is too large for %s",
            "The request was handled, but its answer is larger than what is kept for a %s. It is not handled again"
                    + " for this key."),
    /** The store cannot be asked. */
    UNAVAILABLE(
            HttpStatus.SERVICE_UNAVAILABLE,
            "%s cannot be looked up",
            "The request was not carried out, because what is known of its %s cannot be asked for now. Try again later."),
    /** Nothing is known of how far it came. */
    INTERRUPTED(
            HttpStatus.INTERNAL_SERVER_ERROR,
            "The request was interrupted",
            "It is not known whether the request with this %s took effect. Look before you try again.");

    final HttpStatus status;
    private final String title;
    private final String detail;

    IdempotencyOutcome(HttpStatus status, String title, String detail) {
        this.status = status;
        this.title = title;
        this.detail = detail;
    }

    /** As meters and the log have it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A problem detail; all texts are those of this class, of a header's name and of an address. */
    String json(String header, String type) {
        return "{\"type\":\"%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
                .formatted(type, title.formatted(header), status.value(), detail.formatted(header));
    }
}
