package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * What is said over HTTP of a lock that was not had, or was lost: to clients what they can do, without key and store;
 * to the log one line. Comes behind what the application says itself.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class LockProblems {

    private static final Logger log = LoggerFactory.getLogger(LockClient.class);

    /** Holds are short, as far as clients that wait are concerned. */
    private static final String SECONDS = "1";

    /**
     * The response.
     *
     * @param thrown the error as it came, which may be another one with a lock error as its cause
     * @throws Exception that one then: what the application made of the lock error stays as it is
     */
    @ExceptionHandler(LockException.class)
    ResponseEntity<ProblemDetail> respond(Exception thrown) throws Exception {
        if (thrown instanceof LockTimeoutException) {
            log.debug("409: {}", thrown.getMessage());
            return response(HttpStatus.CONFLICT, "Another request has what this one needs. Try again soon.", SECONDS);
        }
        if (thrown instanceof LockUnavailableException || thrown instanceof LockClientClosedException) {
            log.warn("503: {}", thrown.getMessage());
            return response(
                    HttpStatus.SERVICE_UNAVAILABLE, "What this request needs cannot be had now. Try again later.", "");
        }
        if (thrown instanceof LockLostException) {
            log.warn("500: {}", thrown.getMessage());
            return response(
                    HttpStatus.INTERNAL_SERVER_ERROR,
                    "This request was interrupted. Look whether its last step took effect before you try again.",
                    "");
        }
        throw thrown;
    }

    private static ResponseEntity<ProblemDetail> response(HttpStatus status, String detail, String seconds) {
        HttpHeaders headers = new HttpHeaders();
        if (!seconds.isEmpty()) {
            headers.set(HttpHeaders.RETRY_AFTER, seconds);
        }
        return ResponseEntity.of(ProblemDetail.forStatusAndDetail(status, detail))
                .headers(headers)
                .build();
    }
}
