package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.queue.ClaimEntry;
import org.apache.zookeeper.data.Stat;

/**
 * A node as one answer of the store showed it.
 *
 * @param path where it is
 * @param czxid the transaction that made it, or zero if it is not there
 * @param session the session whose end removes it
 */
record Node(String path, long czxid, long session) implements ClaimEntry<SequenceNode> {

    static Node of(String path, Stat stat) {
        return new Node(path, stat.getCzxid(), stat.getEphemeralOwner());
    }

    static Node absent(String path) {
        return new Node(path, 0, 0);
    }

    boolean isThere() {
        return czxid != 0;
    }

    /** Below the token of this node, and not below that of any made before it. */
    long newestTokenBefore() {
        return token() - FencingTokens.of(1);
    }

    @Override
    public boolean isAt(SequenceNode place) {
        return path.endsWith("/" + place.name());
    }

    /** The fencing token of a claim with this node. */
    @Override
    public long token() {
        if (czxid < 0 || czxid > FencingTokens.HIGHEST_NUMBER) {
            throw new IllegalStateException("the ensemble has had more than 500,000 leaders, so its transaction ids no"
                    + " longer fit into a fencing token: use a new ensemble");
        }
        return FencingTokens.of(czxid);
    }
}
