package io.github.reactivelock.consul;

import java.time.Duration;
import java.util.List;

/** Why Consul could not be asked, in words for the user: what happened and what to do, without any secret. */
final class ConsulFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What follows from it. */
    enum Kind {
        /** Nothing was said in the time that there was. */
        SILENT,
        /** The session has ended; another one can be made. */
        SESSION_ENDED,
        /** The token does not allow it. */
        DENIED,
        /** The gate was shut before the question came; it can be put again. */
        SHUT_OUT,
        /** Something else, which does not pass by itself. */
        REFUSED,
        /** This backend is closed. */
        CLOSED
    }

    private static final String DENIAL = "ermission denied";
    private static final String UNKNOWN_TOKEN = "ACL not found";
    private static final String SESSION_IS_GONE = "invalid session";

    /**
     * What stands in answers of status 500 that last, also behind "rpc error making call: ". All others count as
     * passing: a cluster without a leader, one that changes it, and a server that cannot be reached or has a full disk
     * say so in many words, and the next one may answer.
     */
    private static final List<String> LASTING = List.of(
            DENIAL,
            UNKNOWN_TOKEN,
            SESSION_IS_GONE,
            "ACL support disabled",
            "failed session lookup", // an id that is none
            "Invalid Session TTL",
            "Invalid Behavior",
            "Missing check", // named in the options
            "Must provide ", // a field
            "Bad node ID",
            "rpc: can't find"); // servers older than their agent

    private final Kind kind;

    private ConsulFailure(Kind kind, String message, Throwable cause) {
        super(message, cause, true, false); // the cause says where it was
        this.kind = kind;
    }

    private ConsulFailure(Kind kind, String message) {
        this(kind, message, new IllegalStateException(message));
    }

    Kind kind() {
        return kind;
    }

    /** Whether an answer of status 500 will be the same if its question is put again. */
    static boolean lasts(String said) {
        return LASTING.stream().anyMatch(said::contains);
    }

    static boolean is(Throwable error, Kind kind) {
        return error instanceof ConsulFailure failure && failure.kind == kind;
    }

    static ConsulFailure closed() {
        return new ConsulFailure(Kind.CLOSED, "this Consul lock backend is closed");
    }

    static ConsulFailure silent(String agents, String last, Throwable cause) {
        return new ConsulFailure(
                Kind.SILENT,
                "Consul at " + agents + " did not answer in time"
                        + (last.isEmpty() ? ": the agent is silent or cannot be reached" : " (" + last + ")"),
                cause);
    }

    static ConsulFailure notAsked(String agents, Throwable cause) {
        String text = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new ConsulFailure(Kind.REFUSED, "Consul at " + agents + " could not be asked: " + text, cause);
    }

    /**
     * A denied transaction comes with the status of a lost race, a denied question with another one: the text tells.
     */
    static ConsulFailure refused(String agents, String prefix, int status, String said) {
        String text = said.strip();
        String answer = " (" + status + ": " + (text.isEmpty() ? "no reason was given" : text) + ")";
        if (text.contains(DENIAL)) {
            return new ConsulFailure(
                    Kind.DENIED,
                    "Consul at " + agents + " denies this token the locks below " + prefix
                            + "/: it needs key_prefix \"" + prefix + "/\", node \"" + Session.NODE + "\" and session \""
                            + Session.NODE + "\" (session_prefix \"\" where the session has checks), each with"
                            + " { policy = \"write\" }" + answer);
        }
        if (text.contains(UNKNOWN_TOKEN)) {
            return new ConsulFailure(
                    Kind.DENIED, "Consul at " + agents + " does not know the token; give it one (withToken)" + answer);
        }
        if (text.contains(SESSION_IS_GONE)) {
            return new ConsulFailure(
                    Kind.SESSION_ENDED, "Consul at " + agents + " ended the session before it answered" + answer);
        }
        return new ConsulFailure(Kind.REFUSED, "Consul at " + agents + " refused or failed" + answer);
    }

    static ConsulFailure shortLease(String key, Duration lease, Duration shortest, Duration ttl) {
        return new ConsulFailure(
                Kind.REFUSED,
                "the lease of " + lease.toMillis() + " ms on '" + key + "' is shorter than " + shortest.toSeconds()
                        + " s, the shortest session that Consul keeps: the lock of a process that dies would be taken"
                        + " for up to " + ttl.multipliedBy(2).toSeconds()
                        + " s anyway (twice the session's TTL). Ask for a lease of " + shortest.toSeconds()
                        + " s or more (withLease)");
    }

    static ConsulFailure shutOut(String agents, String key) {
        return new ConsulFailure(
                Kind.SHUT_OUT,
                "Consul at " + agents + " carried out no claim on '" + key + "', because this client gave up others;"
                        + " ask again");
    }

    static ConsulFailure unclear(String agents, String what) {
        return new ConsulFailure(
                Kind.REFUSED,
                "Consul at " + agents + " was asked twice, because an answer was lost, and it is not known whether "
                        + what);
    }
}
