package io.github.reactivelock.zookeeper;

import java.util.concurrent.RejectedExecutionException;
import org.apache.zookeeper.KeeperException;

/** Why ZooKeeper could not be asked, in words for the user: what happened and what to do, without any secret. */
final class ZooKeeperFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private ZooKeeperFailure(String message, Throwable cause) {
        super(message, cause);
    }

    static ZooKeeperFailure closed() {
        return new ZooKeeperFailure("this ZooKeeper lock backend is closed", new IllegalStateException());
    }

    static ZooKeeperFailure silent(String servers, boolean connected, String diagnosis, Throwable cause) {
        return new ZooKeeperFailure(
                "ZooKeeper at " + servers + (connected ? " did not answer in time" : " cannot be reached") + " ("
                        + diagnosis + ")",
                cause);
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
            case UNIMPLEMENTED -> "is too old: these locks need version 3.6 or later (" + text + ")";
            case NOTREADONLY -> "is read-only now: it has no majority of its servers (" + text + ")";
            default -> "refused or failed: " + text;
        };
    }
}
