package io.github.reactivelock.etcd;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import java.util.LinkedHashSet;
import java.util.Set;

/** Why etcd could not be asked, in words for the user: what happened and what to do, without any secret. */
final class EtcdFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private enum Kind {
        /** The same command may succeed a moment later. */
        TRANSIENT,
        /** As transient, and the connection itself may be at fault. */
        UNREACHABLE,
        LEASE_GONE,
        LASTING
    }

    private final Kind kind;

    private EtcdFailure(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    static EtcdFailure leaseGone(long lease) {
        return new EtcdFailure(
                Kind.LEASE_GONE,
                "etcd no longer knows the lease " + Long.toHexString(lease),
                new IllegalStateException());
    }

    /** Puts an error of jetcd or gRPC into words; both carry the server's own text somewhere. */
    static EtcdFailure explain(String server, String prefix, Throwable error) {
        if (error instanceof EtcdFailure known) {
            return known;
        }
        String text = text(error);
        Kind kind = kind(error, text);
        return new EtcdFailure(kind, "etcd at " + server + " " + advice(kind, prefix, text), error);
    }

    boolean isTransient() {
        return kind == Kind.TRANSIENT || kind == Kind.UNREACHABLE;
    }

    boolean isUnreachable() {
        return kind == Kind.UNREACHABLE;
    }

    boolean isLeaseGone() {
        return kind == Kind.LEASE_GONE;
    }

    private static Kind kind(Throwable error, String text) {
        if (text.contains("requested lease not found")) {
            return Kind.LEASE_GONE;
        }
        if (text.contains("invalid auth token") || text.contains("revision of auth store is old")) {
            // jetcd has dropped the token and logs in for the next command.
            return Kind.TRANSIENT;
        }
        Status.Code code = code(error);
        if (code == Status.Code.UNAUTHENTICATED && error.getCause() != null) {
            // So says jetcd whenever it could not log in, whatever the reason.
            return kind(error.getCause(), text);
        }
        if (code == Status.Code.UNKNOWN && text.contains("channel closed")) {
            // So says gRPC when the connection is cut just as a command is written to it.
            return Kind.UNREACHABLE;
        }
        if (code == Status.Code.UNAVAILABLE) {
            return text.contains("etcdserver:") ? Kind.TRANSIENT : Kind.UNREACHABLE;
        }
        return switch (code) {
            case DEADLINE_EXCEEDED, INTERNAL, CANCELLED, ABORTED -> Kind.TRANSIENT;
            // The server notices our deadline too, and may be the first to say so.
            default ->
                text.contains("context deadline exceeded")
                                || text.contains("context canceled")
                                || text.contains("too many requests")
                                || text.contains("compacted")
                        ? Kind.TRANSIENT
                        : Kind.LASTING;
        };
    }

    private static Status.Code code(Throwable error) {
        ErrorCode known = error instanceof EtcdException etcd ? etcd.getErrorCode() : ErrorCode.UNKNOWN;
        return known == ErrorCode.UNKNOWN ? Status.fromThrowable(error).getCode() : Status.Code.valueOf(known.name());
    }

    private static String advice(Kind kind, String prefix, String text) {
        if (text.contains("invalid user ID or password")) {
            return "refuses the user or the password: check those given to the ClientBuilder (" + text + ")";
        }
        if (text.contains("user name is empty") || text.contains("user name not found")) {
            return "asks for a user and a password: give them to the ClientBuilder (" + text + ")";
        }
        if (text.contains("permission denied")) {
            return "denies this user the keys of the locks: allow them with 'etcdctl role grant-permission ROLE"
                    + " readwrite --prefix=true " + prefix + "/' (" + text + ")";
        }
        if (text.contains("database space exceeded")) {
            return "is out of space: compact and defragment it, then 'etcdctl alarm disarm' (" + text + ")";
        }
        return switch (kind) {
            case UNREACHABLE ->
                "cannot be reached: is it running there, with or without TLS as the client expects, and is the way to it"
                        + " open? ("
                        + text + ")";
            case TRANSIENT ->
                "did not answer in time: without a leader and a majority of its members it cannot; look with"
                        + " 'etcdctl endpoint status --cluster' ("
                        + text + ")";
            case LEASE_GONE -> "no longer knows the lease (" + text + ")";
            case LASTING -> "refused or failed: " + text;
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
