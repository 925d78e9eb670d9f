package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/** A round of questions for one claim, and what its answers come to: a grant, a place in the queue, or a failure. */
final class Voting {

    private static final int MOST_REFUSALS = 8;
    /** Multiple of a node's times. */
    private static final int LONGEST_TRY = 3;

    private final Voters nodes;
    private final Duration longestLease;
    private final Claim claim;
    private final QuorumClaim candidacy;
    private final QuorumClaims claims;
    private final Proposals proposals;
    private final boolean isTry;
    /** What the last round of a try was undecided by. */
    private volatile String why = "its nodes have not answered";

    Voting(
            Voters nodes,
            Duration longestLease,
            Claim claim,
            QuorumClaim candidacy,
            QuorumClaims claims,
            Proposals proposals) {
        this(nodes, longestLease, claim, candidacy, claims, proposals, claim.mode() == Claim.Mode.TRY);
    }

    private Voting(
            Voters nodes,
            Duration longestLease,
            Claim claim,
            QuorumClaim candidacy,
            QuorumClaims claims,
            Proposals proposals,
            boolean isTry) {
        this.isTry = isTry;
        this.proposals = proposals;
        this.nodes = nodes;
        this.longestLease = longestLease;
        this.claim = claim;
        this.candidacy = candidacy;
        this.claims = claims;
    }

    /** While votes are split a claim that tries goes on as one that waits, {@code models/Quorum.tla: TriesOn}. */
    Mono<ClaimResult> result() {
        if (!isTry) {
            return round();
        }
        long began = candidacy.now();
        return round().flatMap(answer -> answer instanceof ClaimResult.Queued ? moreRounds(began) : Mono.just(answer));
    }

    /** For less time than a client waits for an answer, the first round included. */
    private Mono<ClaimResult> moreRounds(long began) {
        Claim waiting = as(claim, Claim.Mode.QUEUE);
        Voting next = new Voting(nodes, longestLease, waiting, candidacy, claims, proposals, true);
        Mono<ClaimResult> decided = Mono.defer(() -> candidacy.rest().then(next.round()))
                .repeat()
                .filter(answer -> !(answer instanceof ClaimResult.Queued))
                .next();
        next.why = why;
        return nodes.hastenedFor(claim.lease()).within(LONGEST_TRY, began, decided, next::undecided);
    }

    private static Claim as(Claim claim, Claim.Mode mode) {
        return new Claim(claim.key(), claim.id(), claim.owner(), claim.lease(), mode, claim.keeping(), claim.share());
    }

    private IllegalStateException undecided() {
        return new IllegalStateException(
                why + ", until the time of a try was over, so it is not known whether the lock is free; try again");
    }

    private Mono<ClaimResult> round() {
        return Mono.defer(() -> {
            if (candidacy.isWithdrawn()) {
                return Mono.error(new IllegalStateException("the claim was withdrawn before it was made"));
            }
            long asked = proposals.now();
            long since = candidacy.now();
            return round(asked).flatMap(round -> decide(round, asked, since));
        });
    }

    /**
     * Begins without any vote of the round before, {@code models/Quorum.tla: VotesOfThisRound}. A token is proposed for
     * a grant that is to come, not for one that may be in force. A node that has yet to confirm that it gave a vote
     * back gets that release again first.
     */
    private Mono<Round> round(long asked) {
        long inForce = candidacy.tokenInForce();
        long proposal = inForce == 0 && mayAgree() ? proposals.at(asked) : 0;
        Round round = new Round(nodes.size(), longestLease, candidacy.ticket(), inForce, candidacy.unheard());
        candidacy.listen();
        return nodes.hastenedFor(claim.lease())
                .impatientWith(candidacy.failed())
                .askAll((node, number) -> back(node, number).then(Mono.defer(() -> vote(node, number, proposal))))
                .doOnNext(answer -> {
                    if (answer.value() != null) {
                        round.add(answer.node(), answer.value());
                    } else if (answer.failure() != null) {
                        round.addFailure(answer.node(), answer.failure());
                    }
                })
                .takeUntil(answer -> round.isDecided())
                .then(Mono.just(round));
    }

    /**
     * Not where the release of the vote was sent meanwhile. A round that is over has it asked all the same: see Voters.
     */
    private Mono<Vote> vote(QuorumNode node, int number, long proposal) {
        Claim asking = at(number);
        if (candidacy.isWithdrawn() || !candidacy.ids().isVoteOfNow(number, asking.id())) {
            return Mono.empty();
        }
        return node.vote(asking, candidacy.ticket(), proposal, longestLease)
                .delayUntil(vote -> ifLate(node, number, asking, vote));
    }

    private Claim at(int number) {
        return candidacy.ids().at(number, claim);
    }

    /**
     * A vote that comes after the claim was withdrawn is given back, because the release may have overtaken it. A node
     * whose vote comes after the grant with another token gets the grant's. A vote that comes after a round without a
     * grant makes the claim ask again.
     */
    private Mono<Boolean> ifLate(QuorumNode node, int number, Claim asked, Vote vote) {
        if (candidacy.isWithdrawn()) {
            return node.release(asked);
        }
        if (!(vote.result() instanceof ClaimResult.Granted grant)) {
            return Mono.empty();
        }
        if (candidacy.isHeardLate(number)) {
            claims.heardLate(claim, candidacy);
        }
        candidacy.tells(number, grant.fencingToken());
        return show(node, number);
    }

    /** Writes the token of the grant in force to a node that shows another number. */
    private Mono<Boolean> show(QuorumNode node, int number) {
        QuorumClaim.Untold untold = candidacy.untold(number);
        return untold == null ? Mono.empty() : raise(node, number, untold);
    }

    private Mono<Boolean> raise(QuorumNode node, int number, QuorumClaim.Untold untold) {
        return node.raise(at(number), untold.token(), untold.votesNumber()).doOnNext(shows -> {
            if (shows) {
                candidacy.tells(number, untold.token());
            }
        });
    }

    /**
     * Looks at a node that has our vote, and writes the token of the grant in force to it if it shows another. It is a
     * look and no vote, which could take anew what an operator has just ended by force.
     */
    Mono<Boolean> lookAndShow(QuorumNode node, int number) {
        if (!claim.share().isWhole()) {
            return show(node, number);
        }
        return node.inspect(claim.key()).flatMap(info -> {
            info.held().ifPresent(held -> candidacy.tells(number, held.fencingToken()));
            return show(node, number);
        });
    }

    /**
     * Readers have a rule of their own, that no two have the same token; a node sees to it when one is written back.
     */
    private boolean mayAgree() {
        return claim.share().isWhole();
    }

    private Mono<ClaimResult> decide(Round round, long asked, long since) {
        if (round.isGranted()) {
            long token = round.agreedToken();
            if (token > 0 && mayAgree() && token >= candidacy.fencingToken()) {
                ClaimResult granted = granted(token, since);
                // So that no node shows another; the grant does not depend on it.
                FireAndForget.run(
                        "showing a quorum's token to its nodes",
                        nodes.ask(round.astray(token), this::show).then());
                return Mono.just(granted);
            }
            if (!round.isTokenCertain()) {
                return unconfirmed();
            }
            if (mayAgree()) {
                proposals.differed(asked, round.token());
            }
            return confirm(round, since);
        }
        if (round.isUnanswered() || (isTry && round.isTooEarly())) {
            return Mono.error(round.failure());
        }
        if (isTry && round.isTaken()) {
            candidacy.withdraw();
            return nodes.onMajority((node, number) -> node.release(at(number))).thenReturn(new ClaimResult.Busy());
        }
        if (candidacy.leftOut(round.silentNodes())) {
            claims.heardLate(claim, candidacy);
        }
        if (isTry) {
            why = round.whyUndecided();
            candidacy.failed(round.failedNodes(), round.silentNodes());
        }
        if (round.isWithoutUs()) {
            candidacy.lose();
        }
        if (round.isTooEarly()) {
            return tooEarly(round);
        }
        if (!round.isSplit()) {
            candidacy.waitOn();
            return Mono.just(queued(round.untilFree()));
        }
        Set<Integer> owed = new HashSet<>(round.votesOwedToOlder());
        if (!round.votesOfEquals().isEmpty() && candidacy.givesWayToEquals()) {
            owed.addAll(round.votesOfEquals());
        }
        if (!owed.isEmpty()) {
            return giveBack(owed, owed).thenReturn(queued(candidacy.moment()));
        }
        ClaimResult later = queued(candidacy.growingMoment());
        return candidacy.isOutOfPatience(round.votes())
                ? giveBack(round.possibleVotes(), round.votes()).thenReturn(later)
                : Mono.just(later);
    }

    /**
     * Nothing is proposed until nodes count again: votes that stay meanwhile must not look like a grant to those who
     * look. One that does goes back.
     */
    private Mono<ClaimResult> tooEarly(Round round) {
        proposals.rest(round.untilFree());
        candidacy.waitOn();
        ClaimResult later = queued(round.untilFree());
        Set<Integer> owed = round.votesThatLookLikeGrants();
        return owed.isEmpty() ? Mono.just(later) : giveBack(owed, owed).thenReturn(later);
    }

    /**
     * A round that began before the grant of the last one was heard may find too few votes because nodes are silent,
     * while the engine relies on that grant: such a round proves nothing about it, and names no token. Otherwise the
     * next majority shares a node with the one that has the token of this claim's last grant, and goes beyond it. The
     * counters of single nodes say nothing: one that is ahead may not be part of that majority.
     */
    private ClaimResult queued(Duration recheckAfter) {
        return new ClaimResult.Queued(recheckAfter, null, candidacy.tokenOfThePast());
    }

    /**
     * Releases at several nodes and waits for those that are sure to have something to give back. The others get the
     * release again before they are asked in the next round, see {@link NodeIds}.
     */
    private Mono<Void> giveBack(Set<Integer> at, Set<Integer> sure) {
        if (!candidacy.mayGiveBack()) {
            return Mono.empty();
        }
        candidacy.ids().giveBack(at);
        return nodes.ask(at, this::back)
                .filter(answer -> sure.contains(answer.node()))
                .take(sure.size())
                .then();
    }

    /** Nothing if the node has no vote to give back. */
    private Mono<Boolean> back(QuorumNode node, int number) {
        Claim its = candidacy.ids().givingBackAt(number, claim);
        return its == null
                ? Mono.empty()
                : node.release(its).doOnNext(was -> candidacy.ids().isBack(number, its.id()));
    }

    /**
     * Where the votes' tokens differ the highest is written back before the grant counts,
     * {@code models/Quorum.tla: WriteBack}, to a majority of nodes that voted in this round and whose lock is still
     * this claim's, {@code models/Quorum.tla: OwnersConfirm}. Others show nothing: a vote may have been taken by force
     * since it was given, under the number that its node had given it. A node says no too if it shows the token of
     * another claim that shares the lock, for majorities of readers need not have numbered theirs at the same node;
     * then a higher one is as good.
     */
    private Mono<ClaimResult> confirm(Round round, long since) {
        return confirm(round, since, Math.max(round.token(), candidacy.fencingToken()), 0);
    }

    private Mono<ClaimResult> confirm(Round round, long since, long token, int refused) {
        boolean mayDrawAnother = !claim.share().isWhole() && refused < MOST_REFUSALS;
        return Mono.defer(() -> {
            List<Boolean> answers = new ArrayList<>();
            return nodes.hastenedFor(claim.lease())
                    .askAll((node, number) -> raise(node, number, new QuorumClaim.Untold(token, 0)))
                    .filter(answer -> round.counts(answer.node()))
                    .mapNotNull(answer -> answer.value())
                    .doOnNext(answers::add)
                    .takeUntil(answer -> round.isConfirmed(answers) || (mayDrawAnother && round.isRefused(answers)))
                    .then(Mono.defer(() -> mayDrawAnother && round.isRefused(answers)
                            ? confirm(round, since, candidacy.above(token, refused), refused + 1)
                            : confirmed(round, since, token, answers)));
        });
    }

    private ClaimResult granted(long token, long since) {
        candidacy.win(token, claim.lease(), since);
        return new ClaimResult.Granted(token, claim.lease());
    }

    private Mono<ClaimResult> confirmed(Round round, long since, long token, List<Boolean> answers) {
        if (round.isConfirmed(answers)) {
            return Mono.just(granted(token, since));
        }
        return unconfirmed();
    }

    private Mono<ClaimResult> unconfirmed() {
        return !isTry
                ? Mono.just(queued(candidacy.moment()))
                : Mono.error(new IllegalStateException("of the nodes that granted the lock too few confirmed"
                        + " it; some fell silent, or an operator released it by force; try again"));
    }
}
