package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The ids by which a claim goes at the nodes. When a connection breaks, a node may read what was sent over it after
 * what is sent over the next one. A release that comes so late must not free a vote that was given since. So a claim
 * that has told a node to give its vote back does not ask for it anew until the node says that it did, and then by
 * another id, which no earlier release names: {@code models/Quorum.tla: NewIds}. Nor does a hold rest on such a vote,
 * though the node may still renew it.
 *
 * <pre>
 * state, of each node   the node is             leaves on
 * asking                asked for its vote      a vote that is to be given back -> giving back
 * giving back           told to give it back    its answer to that, under this id -> asking, by the next id
 * </pre>
 *
 * <p>Guarded by its monitor.
 */
final class NodeIds {

    /** Not in the ids of the engine. */
    private static final char MARK = '~';

    private final Map<Integer, Integer> changes = new HashMap<>();
    private final Set<Integer> givingBack = new HashSet<>();

    /** The engine's id of a claim, by one that a node knows. */
    static String original(String id) {
        int mark = id.indexOf(MARK);
        return mark < 0 ? id : id.substring(0, mark);
    }

    /** The claim by its id at the node. */
    synchronized Claim at(int node, Claim claim) {
        if (!changes.containsKey(node)) {
            return claim;
        }
        String id = current(node, claim.id());
        return new Claim(claim.key(), id, claim.owner(), claim.lease(), claim.mode(), claim.keeping(), claim.share());
    }

    private String current(int node, String original) {
        Integer change = changes.get(node);
        return change == null ? original : original + MARK + change;
    }

    /** Whether some node knows the claim by an id of its own, or will. */
    synchronized boolean differ() {
        return !changes.isEmpty() || !givingBack.isEmpty();
    }

    synchronized void giveBack(Collection<Integer> at) {
        givingBack.addAll(at);
    }

    /** The claim by the id under which the node is to give its vote back; null if it has none to give back. */
    @Nullable
    synchronized Claim givingBackAt(int node, Claim claim) {
        return givingBack.contains(node) ? at(node, claim) : null;
    }

    /** Whether a vote under this id is one that the claim asked for and has not given back. */
    synchronized boolean isVoteOfNow(int node, String id) {
        return !givingBack.contains(node) && current(node, original(id)).equals(id);
    }

    /** The node has answered a release under this id. */
    synchronized void isBack(int node, String id) {
        if (current(node, original(id)).equals(id) && givingBack.remove(node)) {
            changes.merge(node, 1, Integer::sum);
        }
    }
}
