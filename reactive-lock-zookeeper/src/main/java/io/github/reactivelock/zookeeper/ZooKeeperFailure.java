package io.github.reactivelock.zookeeper;

import java.util.concurrent.RejectedExecutionException;
import org.apache.zookeeper.KeeperException;

/** Why ZooKeeper could not be asked, in words for the user: what happened and what to do, without any secret. */
final class ZooKeeperFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean isSilence;

    private ZooKeeperFailure(String message, Throwable cause) {
        this(message, cause, false);
    }

    private ZooKeeperFailure(String message, Throwable cause, boolean isSilence) {
        super(message, cause, true, false); // the cause says where it was
        this.isSilence = isSilence;
    }

    /** Whether nothing was said in the time that there was, by servers that are there or may be. */
    boolean isSilence() {
        return isSilence;
    }

    /**
     * Which refusals pass, so that the same question is put again while its time lasts. Curator does that itself where
     * the connection was lost, an answer was late, or the session ended or moved to another server.
     */
    static boolean passes(Throwable error) {
        return error instanceof KeeperException refused
                && switch (refused.code()) {
                    // Without a majority for the moment, or with more to do than it takes.
                    case NOTREADONLY, THROTTLEDOP -> true;
                    default -> false;
                };
    }

    static ZooKeeperFailure closed() {
        return new ZooKeeperFailure("this ZooKeeper lock backend is closed", new IllegalStateException());
    }

    static ZooKeeperFailure unclear(String servers, String what) {
        return new ZooKeeperFailure(
                "ZooKeeper at " + servers + " may have been asked twice, because the connection broke, and it is not"
                        + " known whether " + what,
                new IllegalStateException());
    }

    static ZooKeeperFailure tooMany(String servers, String path, int names) {
        return new ZooKeeperFailure(
                "ZooKeeper at " + servers + " has " + names + " nodes below " + path
                        + ", whose names are more than this"
                        + " client takes in one answer: give it a larger 'jute.maxbuffer' (ZKClientConfig)",
                new IllegalStateException());
    }

    static ZooKeeperFailure silent(String servers, boolean connected, String diagnosis, Throwable cause) {
        return new ZooKeeperFailure(
                "ZooKeeper at " + servers + (connected ? " did not answer in time" : unconnected(diagnosis)) + " ("
                        + diagnosis + ")",
                cause,
                connected || diagnosis.contains(Diagnosis.UP) || diagnosis.contains(Diagnosis.SILENT));
    }

    /** A server that came back without its data ends the connections of those who have seen newer ones. */
    private static String unconnected(String diagnosis) {
        return diagnosis.contains(Diagnosis.SERVES)
                ? " has not let this client in: if its data are gone or older than before, it refuses those who have seen"
                        + " newer ones until their session is over"
                : " cannot be reached";
    }

    /** Puts an error of Curator or ZooKeeper into words. */
    static ZooKeeperFailure explain(String servers, String root, Throwable error) {
        if (error instanceof ZooKeeperFailure known) {
            return known;
        }
        if (error instanceof RejectedExecutionException) {
            return closed();
        }
        return new ZooKeeperFailure("ZooKeeper at " + servers + " " + advice(root, error), error);
    }

    private static String advice(String root, Throwable error) {
        String text = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        if (!(error instanceof KeeperException refused)) {
            return "could not be asked: " + text;
        }
        return switch (refused.code()) {
            case NOAUTH ->
                "denies this client the nodes below " + root + ": log in as the user who made them, or allow it there"
                        + " with 'setAcl' (" + text + ")";
            case AUTHFAILED, SESSIONCLOSEDREQUIRESASLAUTH -> "refuses the user or the password (" + text + ")";
            case OPERATIONTIMEOUT, REQUESTTIMEOUT -> "did not answer in time: the connection broke (" + text + ")";
            case SESSIONEXPIRED, SESSIONMOVED ->
                "ended the session, or its client was closed, before it answered (" + text + ")";
            case NONODE ->
                "has no node for the locks: does the path at the end of the connect string exist? (" + text + ")";
            case THROTTLEDOP -> "has too much to do (" + text + ")";
            case QUOTAEXCEEDED ->
                "has a quota for the nodes below " + root + ", and it is used up: raise it with 'setquota' (" + text
                        + ")";
            case UNIMPLEMENTED -> "is too old: these locks need version 3.6 or later (" + text + ")";
            case NOTREADONLY ->
                "is read-only now: the server has no majority; locks need a client that is not 'canBeReadOnly' (" + text
                        + ")";
            default -> "refused or failed: " + text;
        };
    }
}
