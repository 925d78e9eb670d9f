------------------------------- MODULE Quorum -------------------------------
(* How claims get a majority of nodes that know nothing of one another, and how everybody gets it in the end.

   Three nodes each have an owner (their vote) and those who wait. A claim asks all nodes in a round, counts the votes
   of that round, and has the lock when a majority gave it theirs; else it gives votes back, or keeps them, and asks
   again. It proposes a token with its question, which a node takes for its vote or does not. When a majority of the
   votes has the same token, that one is on a majority already; else the highest is written back.
   Every node hears of a claim's questions in the order in which they left, as late as it likes; its answer may be lost.
   A connection may break: what is on its way over it is lost, but for a vote that is given back, which the node may
   hear of after all that comes over the next connection.
   A node may start anew with an empty memory.

   How to read it: see Grant.tla. The claims are numbers, and the number is the ticket: 1 came first.

   Left out: time. A lease at a node ends only when the claim does not rely on it (which Grant shows of the counting of
   leases), and a node that started anew is "young" until all that relied on what it forgot are done, which is what
   waiting for the longest lease comes to. The token that a node counts goes on from its clock when its memory is gone.
   How far ahead of its clock a node takes a proposal: any node may take any, or none. *)
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS Claims, Nodes,
          Tries,        \* the claims that do not want to wait
          Size,         \* how many nodes there are, those included that are dead for good
          Proposals,    \* tokens that claims propose
          MostRestarts, MostExpired, MostLost, MostForced, MostBroken, \* how many
          MostFruitless, MostRounds, MostSent, MostToken, \* how many
          MostSkipped,  \* numbers that a node leaves out, or a claim that writes a token back
          Off           \* rules that are switched off
VARIABLES owner,        \* of each node: the claim that has its vote, or 0
          waiting,      \* of each node: claims that wait for it
          counter,      \* of each node: the last token it gave, or was told of
          shown,        \* of each node: the token of its owner
          young,        \* of each node: it started so short a time ago that it may have forgotten a vote
          force,        \* the token that an operator ends by force, and the nodes that have yet to hear of it
          sent,         \* for each claim and node: what is on its way, in order, each with the token that it names
          unsure,       \* of each claim: nodes that were told to give its vote back, and have not said that they did
          late,         \* of each claim: nodes that a release over a connection that broke may still come to
          phase,        \* of each claim: what it is doing
          votes,        \* of each claim: nodes whose vote counts in its round
          refused,      \* of each claim: nodes that gave it to another
          owed,         \* of each claim: nodes where an older claim waits for its vote
          named,        \* of each claim that tries: whose the vote is, of nodes that gave it to another
          goesOn,       \* claims that try, and were split: they ask as those that wait
          told,         \* of each claim: the tokens of those votes, until it has one
          best,         \* of each claim: its token
          awaited,      \* of each claim: nodes that have yet to confirm a token or a vote given back
          confirmed,    \* of each claim: nodes that showed the token
          newest,       \* the token of the last grant, and whether it was above all before
          restarts, expired, lost, fruitless, rounds, broken
node == <<owner, waiting, counter, shown, young, force>>
tries == <<named, goesOn>>
claim == <<phase, votes, refused, owed, tries, told, best, awaited, confirmed>>
count == <<restarts, expired, lost, fruitless, rounds, broken>>
back == <<unsure, late>>
vars == <<node, sent, back, claim, newest, count>>

On(rule) == rule \notin Off
Majority(set) == 2 * Cardinality(set) > Size
Min(set) == CHOOSE m \in set : \A other \in set : m <= other
Largest(f) == CHOOSE m \in {f[n] : n \in Nodes} : \A n \in Nodes : f[n] <= m
Height(number) == IF number < 0 THEN -number ELSE number
Max(a, b) == IF a > b THEN a ELSE b

Untold == [n \in Nodes |-> 0]

(* The nodes that have carried out the question of the round that is under way. *)
CarriedOut(c, what) == {n \in Nodes : what \notin {sent[c][n][i][1] : i \in 1..Len(sent[c][n])}}
Answered(c) == CarriedOut(c, "vote") \cap CarriedOut(c, "try") \cap CarriedOut(c, "again")

Init ==
  /\ owner = [n \in Nodes |-> 0] /\ waiting = [n \in Nodes |-> {}] /\ counter = [n \in Nodes |-> 0]
  /\ shown = [n \in Nodes |-> 0] /\ young = {} /\ force = [token |-> 0, at |-> {}]
  /\ sent = [c \in Claims |-> [n \in Nodes |-> <<>>]]
  /\ unsure = [c \in Claims |-> {}] /\ late = [c \in Claims |-> {}]
  /\ phase = [c \in Claims |-> "resting"]
  /\ votes = [c \in Claims |-> {}] /\ refused = [c \in Claims |-> {}] /\ owed = [c \in Claims |-> {}]
  /\ named = [c \in Claims |-> {}] /\ goesOn = {}
  /\ told = [c \in Claims |-> Untold] /\ best = [c \in Claims |-> 0]
  /\ awaited = [c \in Claims |-> {}] /\ confirmed = [c \in Claims |-> {}]
  /\ newest = [token |-> 0, rose |-> TRUE]
  /\ restarts = 0 /\ expired = 0 /\ lost = 0 /\ fruitless = 0 /\ rounds = [c \in Claims |-> 0]
  /\ broken = 0

-----------------------------------------------------------------------------
(* A node carries out what arrives. The vote goes to the oldest of those who want it; it stays free if none does. Its
   token is the next one, or the one that was proposed with the question, if that is higher. *)
Numbers(n, token) == counter' = [counter EXCEPT ![n] = token] /\ shown' = [shown EXCEPT ![n] = token]
Proposed(n, token) == IF token > counter[n] THEN {token} ELSE {}

Elect(n, wanting, asking, proposal) ==
  IF wanting = {}
  THEN owner' = [owner EXCEPT ![n] = 0] /\ waiting' = [waiting EXCEPT ![n] = {}] /\ UNCHANGED <<counter, shown>>
  ELSE /\ owner' = [owner EXCEPT ![n] = Min(wanting)]
       /\ waiting' = [waiting EXCEPT ![n] = wanting \ {Min(wanting)}]
       /\ LET next == IF counter[n] < MostToken THEN counter[n] + 1 ELSE counter[n]
          IN \E token \in (next..next + MostSkipped) \cup (IF asking = Min(wanting) THEN Proposed(n, proposal) ELSE {}) : Numbers(n, token)
Serve(n, wanting) == Elect(n, wanting, 0, 0)

(* Asked again, the owner may get a higher token, if it proposes one. *)
Renumber(n, proposal) ==
  /\ UNCHANGED <<owner, waiting>>
  /\ \/ UNCHANGED <<counter, shown>>
     \/ \E token \in Proposed(n, proposal) : Numbers(n, token)

Counts(n) == n \notin young \/ ~On("YoungNodesDoNotCount")

(* What a vote says never falls, though a lower token may be shown since. Then it is no token, and stands here below
   zero. *)
Says(n) == IF shown'[n] < counter'[n] THEN -counter'[n] ELSE shown'[n]

(* The question of a round. Its answer may be lost: then the node is silent, and has given its vote all the same. One
   that only tries is given no place among those that wait. *)
Stays(c, what, all) == IF what = "try" THEN all \ {c} ELSE all
Vote(c, n, what, proposal) ==
  /\ IF owner[n] = 0
     THEN IF what = "try" /\ waiting[n] # {} THEN Serve(n, waiting[n]) ELSE Elect(n, waiting[n] \cup {c}, c, proposal)
     ELSE IF owner[n] = c THEN Renumber(n, proposal)
     ELSE waiting' = [waiting EXCEPT ![n] = Stays(c, what, @ \cup {c})] /\ UNCHANGED <<owner, counter, shown>>
  /\ \/ phase[c] = "asking" /\ lost < MostLost /\ lost' = lost + 1 /\ UNCHANGED <<votes, refused, owed, named, told>>
     \/ phase[c] # "asking" /\ UNCHANGED <<votes, refused, owed, named, told, lost>>
     \/ /\ phase[c] = "asking" /\ UNCHANGED lost
        /\ IF owner'[n] = c
           THEN /\ votes' = IF Counts(n) THEN [votes EXCEPT ![c] = @ \cup {n}] ELSE votes
                /\ told' = IF Counts(n) THEN [told EXCEPT ![c][n] = Says(n)] ELSE told
                /\ owed' = IF \E o \in waiting'[n] : o < c THEN [owed EXCEPT ![c] = @ \cup {n}] ELSE owed
                /\ UNCHANGED <<refused, named>>
           ELSE /\ refused' = [refused EXCEPT ![c] = @ \cup {n}]
                /\ named' = IF c \in Tries THEN [named EXCEPT ![c] = @ \cup {<<n, owner'[n], shown'[n]>>}] ELSE named
                /\ UNCHANGED <<votes, owed, told>>
  /\ UNCHANGED <<best, awaited, confirmed>>

(* The claim gives its vote back, or its place among those that wait. *)
Back(c, n) ==
  /\ IF owner[n] = c THEN Serve(n, waiting[n])
     ELSE waiting' = [waiting EXCEPT ![n] = @ \ {c}] /\ UNCHANGED <<owner, counter, shown>>
  /\ awaited' = [awaited EXCEPT ![c] = @ \ {n}]
  /\ UNCHANGED <<votes, refused, owed, named, told, best, confirmed, lost>>

(* No later token of this node is lower, and its owner shows it. One that was granted anew here since has a higher
   number: if the node gave that by itself, it shows the token all the same, and counts on from its number; if the claim
   had proposed it, it is kept. It confirms a vote of this round, if the claim still has it, and shows the token. *)
Raise(c, n, token) ==
  \E follows \in BOOLEAN :
    /\ counter' = [counter EXCEPT ![n] = Max(@, token)]
    /\ shown' = IF owner[n] = c /\ (follows \/ shown[n] <= token) THEN [shown EXCEPT ![n] = token] ELSE shown
    /\ confirmed' = IF phase[c] = "raising" /\ ((owner[n] = c /\ (follows \/ shown[n] <= token) /\ n \in votes[c]) \/ ~On("OwnersConfirm"))
                    THEN [confirmed EXCEPT ![c] = @ \cup {n}] ELSE confirmed
    /\ UNCHANGED <<owner, waiting, votes, refused, owed, named, told, best, awaited, lost>>

(* A vote that comes after the grant, under another token, has the grant's written to it. *)
IsBehind(c, n, what) == what \in {"vote", "try"} /\ phase[c] = "held" /\ owner'[n] = c /\ shown'[n] # best[c]

(* A claim that hears that its vote is back asks for it anew, though the round in which it was to ask may be over; not
   if it is to give it back once more, or has been released. *)
Follows(c, n, what, token) ==
  IF IsBehind(c, n, what) THEN {<<<<"raise", best[c]>>>>}
  ELSE IF what = "again" /\ phase[c] \notin {"over", "busy"} THEN {<<<<"vote", token>>>>, <<>>} ELSE {<<>>}

Work(c, n) ==
  /\ sent[c][n] # <<>>
  /\ LET what == Head(sent[c][n])[1]
         token == Head(sent[c][n])[2]
     IN /\ CASE what \in {"vote", "try"} -> Vote(c, n, what, token)
             [] what \in {"back", "again"} -> Back(c, n)
             [] OTHER -> Raise(c, n, token)
        /\ \E more \in Follows(c, n, what, token) : sent' = [sent EXCEPT ![c][n] = Tail(@) \o more]
        /\ unsure' = IF what \in {"back", "again"} THEN [unsure EXCEPT ![c] = @ \ {n}] ELSE unsure
  /\ UNCHANGED <<late, young, force, phase, goesOn, newest, restarts, expired, fruitless, rounds, broken>>

(* A connection breaks that has a release on its way. The claim hears of it, and no more of what it asked. *)
Break(c, n) ==
  /\ broken < MostBroken /\ \E i \in 1..Len(sent[c][n]) : sent[c][n][i][1] \in {"back", "again"}
  /\ broken' = broken + 1 /\ late' = [late EXCEPT ![c] = @ \cup {n}]
  /\ sent' = [sent EXCEPT ![c][n] = <<>>] /\ awaited' = [awaited EXCEPT ![c] = @ \ {n}]
  /\ UNCHANGED <<node, unsure, phase, votes, refused, owed, tries, told, best, confirmed, newest, restarts, expired, lost, fruitless, rounds>>

(* The node reads it at last. It names the id by which the claim went then, and has not since the vote is known to be
   back. *)
LateBack(c, n) ==
  /\ n \in late[c] /\ late' = [late EXCEPT ![c] = @ \ {n}]
  /\ IF n \in unsure[c] \/ ~On("NewIds")
     THEN IF owner[n] = c THEN Serve(n, waiting[n])
          ELSE waiting' = [waiting EXCEPT ![n] = @ \ {c}] /\ UNCHANGED <<owner, counter, shown>>
     ELSE UNCHANGED <<owner, waiting, counter, shown>>
  /\ UNCHANGED <<young, force, sent, unsure, claim, newest, count>>

(* A vote that a claim counted at a node which has forgotten it. *)
ReliesOnForgotten(c, n) == n \in votes[c] /\ owner[n] # c /\ phase[c] \in {"asking", "raising", "held"}

Restart(n) ==
  /\ restarts < MostRestarts /\ young = {}
  /\ restarts' = restarts + 1 /\ young' = young \cup {n}
  /\ owner' = [owner EXCEPT ![n] = 0] /\ waiting' = [waiting EXCEPT ![n] = {}] /\ shown' = [shown EXCEPT ![n] = 0]
  /\ counter' = [counter EXCEPT ![n] = Largest(counter)]
  /\ UNCHANGED <<force, sent, back, claim, newest, expired, lost, fruitless, rounds, broken>>

Mature(n) ==
  /\ n \in young /\ \A c \in Claims : ~ReliesOnForgotten(c, n)
  /\ young' = young \ {n}
  /\ UNCHANGED <<owner, waiting, counter, shown, force, sent, back, claim, newest, count>>

(* A lease that was given in an earlier round, and not in this one, may end. *)
Expire(n) ==
  /\ expired < MostExpired /\ owner[n] # 0
  /\ phase[owner[n]] = "resting" \/ (phase[owner[n]] = "asking" /\ n \notin Answered(owner[n]))
  /\ expired' = expired + 1 /\ Serve(n, waiting[n])
  /\ UNCHANGED <<young, force, sent, back, claim, newest, restarts, lost, fruitless, rounds, broken>>

(* An operator ends a grant by its token, or what looks like one, before its claim has heard of it. Each node, when it
   hears of that, takes the vote of the claim that shows it there. If none does, no vote that comes later gets that
   token. *)
Looks(c, token) == (phase[c] = "held" /\ token = best[c]) \/ Majority({n \in Nodes : owner[n] = c /\ shown[n] = token})
Force(c, token) ==
  /\ MostForced > 0 /\ force.token = 0 /\ Looks(c, token)
  /\ force' = [token |-> token, at |-> Nodes]
  /\ UNCHANGED <<owner, waiting, counter, shown, young, sent, back, claim, newest, count>>

ForceAt(n) ==
  /\ n \in force.at /\ force' = [force EXCEPT !.at = @ \ {n}]
  /\ IF owner[n] # 0 /\ shown[n] = force.token THEN Serve(n, waiting[n])
     ELSE /\ counter' = [counter EXCEPT ![n] = Max(@, force.token)] /\ UNCHANGED <<owner, waiting, shown>>
  /\ UNCHANGED <<young, sent, back, claim, newest, count>>

-----------------------------------------------------------------------------
ToAll(c, what) == sent' = [sent EXCEPT ![c] = [n \in Nodes |-> @[n] \o what]]
ToSome(c, some, what) == sent' = [sent EXCEPT ![c] = [n \in Nodes |-> IF n \in some THEN @[n] \o what ELSE @[n]]]

\* What no claim asks about any more is not kept, so that states come together.
Forgets(c) ==
  /\ refused' = [refused EXCEPT ![c] = {}] /\ owed' = [owed EXCEPT ![c] = {}] /\ named' = [named EXCEPT ![c] = {}]
ForgetsVotes(c) == votes' = IF On("VotesOfThisRound") THEN [votes EXCEPT ![c] = {}] ELSE votes

(* A round begins, with some proposal. Only its own votes count in it. With MostRounds = 0 there are as many as it
   takes. A claim that tries asks as one until its votes are split. *)
Question(c, n) ==
  IF n \in unsure[c] /\ On("NewIds") THEN "again" ELSE IF c \in Tries \ goesOn THEN "try" ELSE "vote"
Forever == MostRounds = 0
Ask(c, proposal) ==
  /\ phase[c] = "resting" /\ (Forever \/ rounds[c] < MostRounds)
  /\ \A n \in Nodes : Len(sent[c][n]) <= MostSent
  /\ phase' = [phase EXCEPT ![c] = "asking"]
  /\ sent' = [sent EXCEPT ![c] = [n \in Nodes |->
                 Append(@[n], <<Question(c, n), proposal>>)]]
  /\ ForgetsVotes(c) /\ Forgets(c)
  /\ told' = IF On("VotesOfThisRound") THEN [told EXCEPT ![c] = Untold] ELSE told
  /\ rounds' = IF Forever THEN rounds ELSE [rounds EXCEPT ![c] = @ + 1]
  /\ UNCHANGED <<node, back, goesOn, best, awaited, confirmed, newest, restarts, expired, lost, fruitless, broken>>

\* One that was ended by force before is none: it is as if the claim had heard of the grant first, and then of its end.
Grant(c, token) ==
  /\ phase' = [phase EXCEPT ![c] = "held"]
  /\ newest' = IF token # 0 /\ token = force.token THEN newest
               ELSE [token |-> Max(token, newest.token), rose |-> newest.rose /\ token > newest.token]

(* A majority: its highest token is written back before the grant counts. *)
Win(c) ==
  /\ phase[c] = "asking" /\ Majority(votes[c])
  /\ LET highest_told == Largest([n \in Nodes |-> Height(told[c][n])])
     IN \E highest \in highest_told..(highest_told + MostSkipped) :
        /\ best' = [best EXCEPT ![c] = highest]
        /\ IF On("WriteBack")
           THEN /\ phase' = [phase EXCEPT ![c] = "raising"] /\ ToAll(c, <<<<"raise", highest>>>>) /\ UNCHANGED newest
           ELSE Grant(c, highest) /\ UNCHANGED sent
  /\ told' = [told EXCEPT ![c] = Untold] /\ Forgets(c)
  /\ UNCHANGED <<node, back, votes, goesOn, awaited, confirmed, count>>

(* A majority has the same token, which each of its nodes counts on from and shows: no more has to be written back. It
   is to those that showed another one, or did not answer. *)
Agree(c) ==
  /\ phase[c] = "asking" /\ Majority(votes[c])
  /\ \E token \in {told[c][n] : n \in votes[c]} :
       /\ token > 0
       /\ Majority({n \in votes[c] : told[c][n] = token}) \/ ~On("TokensAgree")
       /\ best' = [best EXCEPT ![c] = token] /\ Grant(c, token)
       /\ ToSome(c, {n \in Answered(c) \ refused[c] : told[c][n] # token}, <<<<"raise", token>>>>)
  /\ told' = [told EXCEPT ![c] = Untold] /\ Forgets(c)
  /\ UNCHANGED <<node, back, votes, goesOn, awaited, confirmed, count>>

Hold(c) ==
  /\ phase[c] = "raising" /\ Majority(confirmed[c]) /\ Grant(c, best[c])
  /\ confirmed' = [confirmed EXCEPT ![c] = {}]
  /\ UNCHANGED <<node, sent, back, votes, refused, owed, tries, told, best, awaited, count>>

(* Too few confirm, because an operator took a vote meanwhile: it asks anew. One that tries says so, and may be tried
   again. *)
Doubt(c) ==
  /\ phase[c] = "raising" /\ ~Majority(confirmed[c]) /\ CarriedOut(c, "raise") = Nodes
  /\ phase' = [phase EXCEPT ![c] = "resting"] /\ ForgetsVotes(c)
  /\ confirmed' = [confirmed EXCEPT ![c] = {}] /\ best' = [best EXCEPT ![c] = 0]
  /\ goesOn' = goesOn \ {c}
  /\ UNCHANGED <<node, sent, back, refused, owed, named, told, awaited, newest, count>>

GivesBackAt(c, some) == ToSome(c, some, <<<<"back", 0>>>>) /\ unsure' = [unsure EXCEPT ![c] = @ \cup some]

(* A try is told that the lock is taken where a majority names one owner with one token, and leaves nothing behind. That
   a majority gave its votes to others is not enough: these may be split, and the lock is free. Nor is one owner: it may
   have given one of these votes back before it got the other. Where tokens are not counted, one that a majority shows
   is that of a grant. *)
IsTaken(c) ==
  \E o \in Claims : \E token \in {seen[3] : seen \in named[c]} :
     /\ Majority({n \in Nodes : <<n, o, token>> \in named[c]})
     /\ MostToken > 0 \/ phase[o] \in {"held", "over"}
Fails(c) == ~Majority(votes[c] \cup (Nodes \ Answered(c)))
Busy(c) ==
  /\ phase[c] = "asking" /\ c \in Tries /\ (IF On("OneOwnerIsNamed") THEN IsTaken(c) ELSE Fails(c))
  /\ phase' = [phase EXCEPT ![c] = "busy"] /\ ToAll(c, <<<<"back", 0>>>>)
  /\ told' = [told EXCEPT ![c] = Untold] /\ votes' = [votes EXCEPT ![c] = {}] /\ Forgets(c)
  /\ UNCHANGED <<node, back, goesOn, best, awaited, confirmed, newest, count>>

\* No majority, nor would the answers still to come make one. A vote that comes after its round is given back for want
\* of patience only; where that is left out, a round waits for all nodes.
Fruitless(c) ==
  /\ phase[c] = "asking" /\ Fails(c)
  /\ MostFruitless > 0 \/ ~Forever \/ Answered(c) = Nodes
  /\ IF owed[c] # {} /\ On("OwedToOlder")
     THEN \* votes that an older claim waits for go back at once
          /\ phase' = [phase EXCEPT ![c] = "giving back"] /\ awaited' = [awaited EXCEPT ![c] = owed[c]]
          /\ GivesBackAt(c, owed[c]) /\ UNCHANGED fruitless
     ELSE \/ \* out of patience: all of them go back, at silent nodes as well
             /\ fruitless < MostFruitless /\ votes[c] # {} /\ fruitless' = fruitless + 1
             /\ phase' = [phase EXCEPT ![c] = "giving back"] /\ awaited' = [awaited EXCEPT ![c] = votes[c]]
             /\ GivesBackAt(c, Nodes \ refused[c])
          \/ phase' = [phase EXCEPT ![c] = "resting"] /\ UNCHANGED <<sent, unsure, awaited, fruitless>>
  /\ told' = IF On("VotesOfThisRound") THEN [told EXCEPT ![c] = Untold] ELSE told
  /\ ForgetsVotes(c) /\ Forgets(c)
  /\ goesOn' = IF c \in Tries /\ On("TriesOn") THEN goesOn \cup {c} ELSE goesOn
  /\ UNCHANGED <<node, late, best, confirmed, newest, restarts, expired, lost, rounds, broken>>

Fail(c) == ~IsTaken(c) /\ Fruitless(c)

(* The round ends when all that it gave back is known to be back. *)
GaveBack(c) ==
  /\ phase[c] = "giving back" /\ awaited[c] = {}
  /\ phase' = [phase EXCEPT ![c] = "resting"] /\ votes' = [votes EXCEPT ![c] = {}]
  /\ UNCHANGED <<node, sent, back, refused, owed, tries, told, best, awaited, confirmed, newest, count>>

(* What happens without the rule OneRoundAtATime: the next round's questions left before this round's votes are given
   back. *)
Overlap(c) ==
  /\ ~On("OneRoundAtATime") /\ fruitless < MostFruitless
  /\ phase[c] = "asking" /\ votes[c] # {} /\ ~Majority(votes[c]) /\ Answered(c) = Nodes
  /\ fruitless' = fruitless + 1 /\ ToAll(c, <<<<"vote", 0>>, <<"back", 0>>>>)
  /\ votes' = [votes EXCEPT ![c] = {}] /\ refused' = [refused EXCEPT ![c] = {}] /\ owed' = [owed EXCEPT ![c] = {}]
  /\ told' = [told EXCEPT ![c] = Untold]
  /\ UNCHANGED <<node, back, phase, tries, best, awaited, confirmed, newest, restarts, expired, lost, rounds, broken>>

(* And without MayGiveBack: a question that waited for its turn while the claim won meets silent nodes, and gives back
   what it found, although the engine relies on it. *)
LateRound(c) ==
  /\ ~On("MayGiveBack") /\ phase[c] = "held" /\ fruitless < MostFruitless
  /\ fruitless' = fruitless + 1 /\ ToSome(c, votes[c], <<<<"vote", 0>>, <<"back", 0>>>>)
  /\ UNCHANGED <<node, back, claim, newest, restarts, expired, lost, rounds, broken>>

Release(c) ==
  /\ phase[c] = "held" /\ phase' = [phase EXCEPT ![c] = "over"]
  /\ votes' = [votes EXCEPT ![c] = {}] /\ ToAll(c, <<<<"back", 0>>>>)
  /\ best' = [best EXCEPT ![c] = 0]
  /\ UNCHANGED <<node, back, refused, owed, tries, told, awaited, confirmed, newest, count>>

Next ==
  \/ \E c \in Claims : \/ \E token \in Proposals : Ask(c, token)
                       \/ Win(c) \/ Agree(c) \/ Hold(c) \/ Busy(c) \/ Fail(c) \/ GaveBack(c) \/ Release(c) \/ Overlap(c) \/ LateRound(c)
                       \/ Doubt(c) \/ \E token \in {shown[n] : n \in Nodes} \cup {best[c]} : Force(c, token)
                       \/ \E n \in Nodes : Work(c, n) \/ Break(c, n) \/ LateBack(c, n)
  \/ \E n \in Nodes : Restart(n) \/ Mature(n) \/ Expire(n) \/ ForceAt(n)
Spec == Init /\ [][Next]_vars

\* Nothing that can be done is put off for ever, but for what is a fault.
Fair == \A c \in Claims : /\ WF_vars(\E token \in Proposals : Ask(c, token))
                          /\ WF_vars(Win(c) \/ Agree(c)) /\ WF_vars(Hold(c)) /\ WF_vars(Fail(c)) /\ WF_vars(Busy(c))
                          /\ WF_vars(GaveBack(c)) /\ WF_vars(Release(c))
                          /\ \A n \in Nodes : WF_vars(Work(c, n)) /\ WF_vars(Mature(n))
FairSpec == Spec /\ Fair

-----------------------------------------------------------------------------
Alike == Permutations(Nodes) \* for the checker: what is true of some nodes is true when they change names

\* One whose grant was ended by force is none; it has yet to hear of it.
Holders == {c \in Claims : phase[c] = "held" /\ best[c] # force.token}
OneHolder == Cardinality(Holders) <= 1
HasMajority == \A c \in Holders : Majority({n \in Nodes : owner[n] = c}) \* where no node forgets
TokensRise == newest.rose
EverybodyIsServed == <>(\A c \in Claims : phase[c] \in {"over", "busy"})
OneTryIsServed == \E c \in Claims : phase[c] # "busy" \* not all are turned away from a lock that is free
=============================================================================
