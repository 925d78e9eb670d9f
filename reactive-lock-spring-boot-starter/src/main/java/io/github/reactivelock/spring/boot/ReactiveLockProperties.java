package io.github.reactivelock.spring.boot;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What {@code reactive-lock.*} says.
 *
 * @param store Store that keeps the locks. Needed if the application has several; found by itself otherwise.
 * @param url Address of the store, in place of that of the application's own connection.
 * @param client Whether locks use connections of their own, or those of the application. By default their own with
 *     Redis, R2DBC and a URL, and the application's client with etcd and ZooKeeper.
 * @param lease How long the store keeps a lock after its holder last claimed or renewed it.
 * @param waitTimeout How long a caller waits for a lock. Without a limit if not set.
 * @param maxHold How long a lock may be held at all; one that is held longer is lost. Without a limit if not set.
 * @param fairness Who gets a lock next.
 * @param retention For how long a lock that no flow needs is kept for the next one of this process. Not at all if not
 *     set.
 * @param name Name that people see as the owner of a lock. Host, process id and a random part if not set.
 * @param keyPrefix What the names of everything in the store begin with. "reactivelock" if not set, with R2DBC the
 *     tables' "reactive_lock".
 * @param initializeSchema Whether to create the tables of the R2DBC store at start-up.
 */
@ConfigurationProperties("reactive-lock")
record ReactiveLockProperties(
        @Nullable Store store,
        @Nullable String url,
        @Nullable Sharing client,
        @DefaultValue("30s") Duration lease,
        @Nullable Duration waitTimeout,
        @Nullable Duration maxHold,
        @DefaultValue("cohort") Fairness fairness,
        @Nullable Duration retention,
        @Nullable String name,
        @Nullable String keyPrefix,
        @DefaultValue("embedded") Schema initializeSchema) {

    /** Whose connections are used. */
    enum Sharing {
        /** Connections of the locks' own, closed with them. */
        OWN,
        /** Those of the application, which are left open. */
        SHARED
    }

    /** When tables are created. */
    enum Schema {
        /** Always, if they do not exist. */
        ALWAYS,
        /** In a database within this process only. */
        EMBEDDED,
        /** Never: a migration does it. */
        NEVER
    }

    /** Refuses what no store could take, and says which property it is. */
    LockOptions options() {
        LockOptions options = with("lease", LockOptions.defaults(), value -> value.withLease(lease));
        options = with("fairness", options, value -> value.withFairness(fairness));
        if (waitTimeout != null) {
            options = with("wait-timeout", options, value -> value.withWaitTimeout(waitTimeout));
        }
        if (maxHold != null) {
            options = with("max-hold", options, value -> value.withMaxHold(maxHold));
        }
        if (retention != null) {
            options = with("retention", options, value -> value.withRetention(retention));
        }
        return options;
    }

    /** Whether anything is set that has no default. */
    boolean areSet() {
        return Stream.of(store, url, client, waitTimeout, maxHold, retention, name, keyPrefix)
                .anyMatch(Objects::nonNull);
    }

    /** {@return the options of a store with the prefix that was set, if one was} */
    <O> O prefixed(O options, BiFunction<O, String, O> withPrefix) {
        return keyPrefix == null ? options : checked("key-prefix", () -> withPrefix.apply(options, keyPrefix));
    }

    private static LockOptions with(String property, LockOptions options, UnaryOperator<LockOptions> change) {
        return checked(property, () -> change.apply(options));
    }

    /** A refusal of the library becomes an error that names the property. */
    static <T> T checked(String property, Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException | UnsupportedOperationException refused) {
            throw new LockConfigurationException(
                    "reactive-lock." + property + ": " + refused.getMessage(),
                    "Change reactive-lock." + property + ".",
                    refused);
        }
    }
}
