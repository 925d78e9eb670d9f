package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LockInfo.Holder;
import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A lock as the nodes show it that answered. A holder that a majority shows with the same number is in, and no other:
 * that is all that a majority stands for. An owner may be likely, because a majority shows it with different numbers,
 * one of which may be a grant's. Its votes may be under way; it may hold the lock, and a node that numbered its vote by
 * itself, and was not told of the token yet, has taken the place of one that the holder has lost since; or one of these
 * nodes missed the release of an earlier grant, for owners have names, and claims of one name are not told apart. Time
 * tells: a token is written to all nodes that have the claim, with the grant and with each renewal.
 *
 * @param key the lock's
 * @param holders who is in, the newest first
 * @param likely the owners, with the tokens that they have if they hold the lock
 * @param isOpen there may be more: nodes are silent, or show some holders only
 * @param answers of the nodes
 * @param silent how many nodes did not answer
 */
record View(String key, List<Holder> holders, List<Holder> likely, boolean isOpen, List<LockInfo> answers, int silent) {

    private static final Comparator<Holder> NEWEST_FIRST =
            Comparator.comparingLong(Holder::fencingToken).reversed();

    /** @param nodes how many there are */
    static View of(String key, List<LockInfo> answers, int nodes) {
        List<List<Holder>> shown = answers.stream().map(View::shownBy).toList();
        Set<String> owners = new LinkedHashSet<>();
        shown.forEach(holders -> holders.forEach(holder -> owners.add(holder.owner())));
        int silent = nodes - answers.size();
        boolean isOpen = silent > nodes / 2 || answers.stream().anyMatch(View::isPart);
        List<Holder> holders = new ArrayList<>();
        List<Holder> likely = new ArrayList<>();
        for (String name : owners) {
            Owner owner = Owner.of(name, shown, nodes);
            holders.addAll(owner.agreed());
            likely.addAll(owner.likely());
            isOpen |= owner.isOpen();
        }
        holders.sort(NEWEST_FIRST);
        return new View(key, holders, likely, isOpen, answers, silent);
    }

    /** What one node shows of holders. */
    private static List<Holder> shownBy(LockInfo info) {
        if (!(info instanceof LockInfo.Held held)) {
            return List.of();
        }
        LockInfo.Shares shares = held.shares();
        return shares == null
                ? List.of(new Holder(held.owner(), Share.WHOLE.units(), held.fencingToken(), held.remaining()))
                : shares.first();
    }

    private static long count(LockInfo info) {
        LockInfo.Shares shares = info instanceof LockInfo.Held held ? held.shares() : null;
        return shares == null ? shownBy(info).size() : shares.holders();
    }

    private static boolean isPart(LockInfo info) {
        return count(info) > shownBy(info).size();
    }

    /** No other is in than those who are known to be. */
    boolean isCertain() {
        return likely.isEmpty() && !isOpen;
    }

    /** No holder is known, and there may be one. */
    boolean isUndecided() {
        return holders.isEmpty() && (!likely.isEmpty() || (silent > 0 && isOpen && showsAny()));
    }

    /**
     * The node with the longest queue among those that show the newest holder: what a majority queued is in one of
     * them.
     */
    LockInfo info() {
        if (holders.isEmpty()) {
            return new LockInfo.Free(key);
        }
        Holder newest = holders.get(0);
        LockInfo.Held seen = answers.stream()
                .filter(answer -> shownBy(answer).stream().anyMatch(shown -> isSame(shown, newest)))
                .map(LockInfo.Held.class::cast)
                .max(Comparator.comparingLong(LockInfo.Held::waiters))
                .orElseThrow();
        return new LockInfo.Held(
                key,
                newest.owner(),
                newest.fencingToken(),
                newest.remaining(),
                seen.waiters(),
                seen.fencingToken() == newest.fencingToken() ? seen.age() : null,
                // Nodes know claims by the places that these brought along, which are times of their clients' clocks.
                seen.queue().stream()
                        .map(waiting -> new LockInfo.Waiting(waiting.owner(), null))
                        .toList(),
                newest.units() == Share.WHOLE.units() ? null : shares());
    }

    /** Each has one unit. Where nodes show some holders only, a majority of nodes counts as many as that at least. */
    private LockInfo.Shares shares() {
        long many = holders.size();
        if (answers.stream().anyMatch(View::isPart)) {
            List<Long> counts = answers.stream().map(View::count).toList();
            many = Math.max(many, Owner.ofMajority(counts, majority()));
        }
        return new LockInfo.Shares(
                (int) many,
                many,
                holders.stream().limit(LockInfo.Held.MOST_SHOWN).toList());
    }

    private int majority() {
        return (answers.size() + silent) / 2 + 1;
    }

    private static boolean isSame(Holder one, Holder other) {
        return one.fencingToken() == other.fencingToken() && one.owner().equals(other.owner());
    }

    private Stream<Holder> shown() {
        return answers.stream().flatMap(answer -> shownBy(answer).stream());
    }

    private boolean showsAny() {
        return shown().findAny().isPresent();
    }

    /** Whether a node shows that number. */
    boolean shows(long number) {
        return shown().anyMatch(shown -> shown.fencingToken() == number);
    }

    boolean isIn(long token) {
        return holders.stream().anyMatch(holder -> holder.fencingToken() == token);
    }

    /** Whether who has the token may be in, though no majority shows it. */
    boolean mayBeIn(long token) {
        return likely.stream()
                .anyMatch(owner -> shown().anyMatch(shown ->
                        shown.fencingToken() == token && shown.owner().equals(owner.owner())));
    }

    /** A look that comes later may be certain, without a push: silent nodes answer, numbers become a token. */
    boolean isPassing() {
        return !isCertain() && answers.stream().noneMatch(View::isPart);
    }

    /**
     * This, which is of a while later: who may have been in before, and has a number still, may be in; votes that are
     * under way have other numbers by now. Of owners that are not seen in it, a look that is open rules out none.
     */
    View after(View before) {
        List<Holder> still = likely.stream()
                .filter(owner -> before.isOpen || (before.names(owner.owner()) && hasANumberStill(owner, before)))
                .toList();
        return new View(key, holders, still, isOpen, answers, silent);
    }

    /** As one that is in, or may be. */
    private boolean names(String owner) {
        return Stream.concat(holders.stream(), likely.stream())
                .anyMatch(holder -> holder.owner().equals(owner));
    }

    /** The lowest of its numbers may be an earlier claim's, so all count that may be a grant's. */
    private boolean hasANumberStill(Holder owner, View before) {
        return shown().filter(
                        shown -> shown.owner().equals(owner.owner()) && QuorumNode.mayBeAGrants(shown.fencingToken()))
                .anyMatch(shown -> before.shown().anyMatch(earlier -> isSame(earlier, shown)));
    }
}
