package io.github.reactivelock.etcd;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import java.net.ConnectException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Why etcd could not be asked, in words for the user: what happened and what to do, without any secret. */
final class EtcdFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final String SILENT =
            "did not answer in time: without a leader and a majority of its members it cannot; look"
                    + " with 'etcdctl endpoint status --cluster'";

    private enum Kind {
        /** The same command may succeed a moment later. */
        TRANSIENT,
        /** As transient, and nothing was said in the time that there was. */
        SILENT,
        /** As transient, and the connection itself may be at fault. */
        UNREACHABLE,
        LEASE_GONE,
        LASTING
    }

    private final Kind kind;
    private final @Nullable Said said;

    private EtcdFailure(Kind kind, @Nullable Said said, String message, Throwable cause) {
        super(message, cause, true, false); // the cause says where it was
        this.kind = kind;
        this.said = said;
    }

    static EtcdFailure leaseGone(long lease) {
        return new EtcdFailure(
                Kind.LEASE_GONE,
                null,
                "etcd no longer knows the lease " + Long.toHexString(lease),
                new IllegalStateException());
    }

    static EtcdFailure unclear(String server, String what) {
        return new EtcdFailure(
                Kind.LASTING,
                null,
                "etcd at " + server + " was asked twice, because an answer was lost, and it is not known whether "
                        + what,
                new IllegalStateException());
    }

    /** Puts an error of jetcd or gRPC into words; both carry the server's own text somewhere. */
    static EtcdFailure explain(String server, String prefix, Throwable error) {
        if (error instanceof EtcdFailure known) {
            return known;
        }
        String text = text(error);
        Kind kind = kind(error, text);
        return new EtcdFailure(
                kind, Said.in(text).orElse(null), "etcd at " + server + " " + advice(kind, prefix, text), error);
    }

    boolean isTransient() {
        return kind == Kind.TRANSIENT || kind == Kind.UNREACHABLE || kind == Kind.SILENT;
    }

    /** Whether what was asked may have been done although it failed. */
    boolean mayHaveBeenCarriedOut() {
        return said == null ? !hasNoListener() : said.isNoRefusal();
    }

    private boolean hasNoListener() {
        return Stream.iterate(getCause(), Objects::nonNull, Throwable::getCause)
                .anyMatch(ConnectException.class::isInstance);
    }

    /** Whether nothing was said in the time that there was. */
    boolean isSilence() {
        return kind == Kind.SILENT;
    }

    /** Whether etcd takes nothing any more that makes it grow. */
    boolean isFull() {
        return said == Said.FULL;
    }

    boolean isUnreachable() {
        return kind == Kind.UNREACHABLE;
    }

    boolean isLeaseGone() {
        return kind == Kind.LEASE_GONE;
    }

    /** Said by the server, in this order: the first that fits counts. */
    private enum Said {
        LEASE_IS_GONE(Kind.LEASE_GONE, "no longer knows the lease", "requested lease not found"),
        WRONG_PASSWORD(
                Kind.LASTING,
                "refuses the user or the password: check those given to the ClientBuilder",
                "invalid user ID or password"),
        NO_USERS(
                Kind.LASTING,
                "has no authentication enabled, but the ClientBuilder has a user: leave that out, or run 'etcdctl auth"
                        + " enable'",
                "authentication is not enabled"),
        USER_WANTED(
                Kind.LASTING,
                "asks for a user and a password: give them to the ClientBuilder",
                "user name is empty",
                "user name not found"),
        DENIED(
                Kind.LASTING,
                "denies this user the keys of the locks: allow them with 'etcdctl role grant-permission ROLE readwrite"
                        + " --prefix=true PREFIX/'",
                "permission denied"),
        FULL(
                Kind.LASTING,
                "is out of space: compact and defragment it, then 'etcdctl alarm disarm'",
                "database space exceeded"),
        TOO_LARGE(
                Kind.LASTING,
                "was asked for too much at once: raise --max-request-bytes of the servers",
                "request is too large"),
        OLD_LOGIN(
                Kind.TRANSIENT,
                "no longer knows the login of this client, and a new one took too long: look how busy it is, and whether"
                        + " --bcrypt-cost is high",
                "invalid auth token",
                "revision of auth store is old",
                "auth token"),
        BUSY(Kind.TRANSIENT, "has too many requests: look what keeps its leader or its disk busy", "too many requests"),
        LEARNER(
                Kind.TRANSIENT,
                "has a learner among the addresses given, which serves no locks: leave it out until it is promoted",
                "not supported for learner"),
        NO_LEADER(
                Kind.TRANSIENT,
                "has no leader, or its leader no majority: look with 'etcdctl endpoint status --cluster'",
                "no leader",
                "not leader",
                "unhealthy cluster",
                "proposal dropped"),
        LEADER_LOST(Kind.TRANSIENT, NO_LEADER.advice, "leader changed", "request timed out"),
        STOPPING(Kind.TRANSIENT, "is being stopped", "server stopped"),
        /** The server notices our deadline too, and may report it first. */
        LATE(Kind.SILENT, SILENT, "context deadline exceeded", "context canceled"),
        COMPACTED(Kind.TRANSIENT, "was compacted meanwhile", "compacted");

        private final Kind kind;
        private final String advice;

        @SuppressWarnings("ImmutableEnumChecker") // made by List.of
        private final List<String> texts;

        Said(Kind kind, String advice, String... texts) {
            this.kind = kind;
            this.advice = advice;
            this.texts = List.of(texts);
        }

        /** The server gave up waiting, and what it was asked may be under way. */
        boolean isNoRefusal() {
            return this == LEADER_LOST || this == STOPPING || this == LATE;
        }

        static Optional<Said> in(String text) {
            return Arrays.stream(values())
                    .filter(said -> said.texts.stream().anyMatch(text::contains))
                    .findFirst();
        }
    }

    /** Whether the server says that it does not know a token any more. */
    static boolean isOfAnOldLogin(String text) {
        return Said.in(text).filter(Said.OLD_LOGIN::equals).isPresent();
    }

    private static Kind kind(Throwable error, String text) {
        Optional<Said> said = Said.in(text);
        if (said.isPresent()) {
            return said.get().kind;
        }
        Status.Code code = code(error);
        if (code == Status.Code.UNAUTHENTICATED && error.getCause() != null) {
            // jetcd answers this for every failed login, for any reason.
            return kind(error.getCause(), text);
        }
        if (code == Status.Code.UNKNOWN && text.contains("channel closed")) {
            // gRPC answers this when the connection is cut just as a command is written to it.
            return Kind.UNREACHABLE;
        }
        return switch (code) {
            case UNAVAILABLE -> text.contains("etcdserver:") ? Kind.TRANSIENT : Kind.UNREACHABLE;
            case DEADLINE_EXCEEDED -> Kind.SILENT;
            case INTERNAL, CANCELLED, ABORTED -> Kind.TRANSIENT;
            default -> Kind.LASTING;
        };
    }

    private static Status.Code code(Throwable error) {
        ErrorCode known = error instanceof EtcdException etcd ? etcd.getErrorCode() : ErrorCode.UNKNOWN;
        return known == ErrorCode.UNKNOWN ? Status.fromThrowable(error).getCode() : Status.Code.valueOf(known.name());
    }

    private static String advice(Kind kind, String prefix, String text) {
        String advice =
                Said.in(text).map(said -> said.advice.replace("PREFIX", prefix)).orElse("");
        if (!advice.isEmpty()) {
            return advice + " (" + text + ")";
        }
        return switch (kind) {
            case UNREACHABLE ->
                "cannot be reached: is it running there, with or without TLS as the client expects, and is the way to it"
                        + " open? ("
                        + text + ")";
            case TRANSIENT, SILENT -> SILENT + " (" + text + ")";
            case LEASE_GONE, LASTING -> "refused or failed: " + text;
        };
    }

    private static String text(Throwable error) {
        Set<String> said = new LinkedHashSet<>();
        for (Throwable e = error; e != null && said.size() < 8; e = e.getCause()) {
            String message = e.getMessage();
            if (message != null && said.stream().noneMatch(earlier -> earlier.contains(message))) {
                said.add(message);
            }
        }
        return said.isEmpty() ? error.getClass().getSimpleName() : String.join("; ", said);
    }
}
