package io.github.reactivelock.spring.boot;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What {@code reactive-lock.idempotency.*} says.
 *
 * @param enabled Whether requests with an idempotency key are carried out once. WebFlux and a database over R2DBC are
 *     needed.
 * @param paths Patterns of the paths whose requests may have a key.
 * @param methods HTTP methods whose requests may have a key.
 * @param header Name of the header with the key, which is a string in double quotes.
 * @param required Whether a request without a key is refused.
 * @param ttl How long a key and its answer are kept, and the longest that a request may take.
 * @param maxKeyLength Most characters of a key.
 * @param maxRequestSize Largest body of a request with a key.
 * @param maxResponseSize Largest body of an answer that is kept.
 * @param responseHeaders Headers that are kept with an answer.
 * @param documentation Page for the clients of the application, which refusals name as their type.
 */
@ConfigurationProperties("reactive-lock.idempotency")
record IdempotencyProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("/**") List<String> paths,
        @DefaultValue({"POST", "PATCH"}) List<String> methods,
        @DefaultValue("Idempotency-Key") String header,
        @DefaultValue("false") boolean required,
        @DefaultValue("24h") Duration ttl,
        @DefaultValue("255") int maxKeyLength,
        @DefaultValue("256KB") DataSize maxRequestSize,
        @DefaultValue("64KB") DataSize maxResponseSize,

        @DefaultValue({"Content-Type", "Content-Language", "Content-Encoding", "Location", "ETag", "Last-Modified"})
        List<String> responseHeaders,

        @Nullable URI documentation) {

    /** Refuses what cannot work, before the first request. */
    IdempotencyProperties {
        check("ttl", !ttl.isNegative() && !ttl.isZero(), "positive");
        check("max-key-length", maxKeyLength > 0 && maxKeyLength <= 4096, "1 to 4096");
        check("max-request-size", isSize(maxRequestSize), "less than 2 GB");
        check("max-response-size", isSize(maxResponseSize), "less than 2 GB");
        check("header", header.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+"), "the name of a header");
    }

    private static boolean isSize(DataSize size) {
        return !size.isNegative() && size.toBytes() <= Integer.MAX_VALUE;
    }

    private static void check(String property, boolean holds, String must) {
        if (!holds) {
            throw new LockConfigurationException(
                    "reactive-lock.idempotency." + property + " must be " + must,
                    "Change reactive-lock.idempotency." + property + ".");
        }
    }
}
