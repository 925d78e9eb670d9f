------------------------------- MODULE Cohort -------------------------------
(* How flows of one process hand a lock on among themselves, and how everybody else gets it all the same.

   A process has several flows that want the same lock, and so has somebody else ("Other"). At the store there is one
   owner and a queue, of claims. A flow that gives the lock up may hand it to another flow of the process without the
   store's hearing of it: then that flow holds the lock under a claim that was not its own. There are two ways.
   Shared: one claim stands for all flows of the process, and the flow that wants it next has it, a few times (the
   budget).
   Not shared: each flow has a claim of its own, in the order of the store's queue, and hands its grant only to the one
   that the store would serve next.

   How to read it: see Grant.tla. Left out: leases and loss (that is what Grant is about). Flows come again for ever. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Flows,        \* of the process: numbers, each the id of its claim too
          Shared, MostPasses, MostQuestions, MostCancels,
          Off           \* rules that are switched off
VARIABLES owner, queue, \* at the store: claims
          other,        \* what Other does: "idle", "waits" or "holds"
          sent,         \* on its way to the store, in order
          answers,      \* on their way back, in order
          pushes,       \* on their way back, on another connection: claims that were granted
          state,        \* of each flow: "idle", "wants" (without a claim), "asked" (with one) or "holds"
          under,        \* of each flow that holds: the claim whose grant it has
          keeper,       \* of each claim: the flow that it stands for now, or none
          behind,       \* of each flow: the flow directly behind it at the store, as far as is known
          passes,       \* how often the grant was handed on
          questions, cancels
vars == <<owner, queue, other, sent, answers, pushes, state, under, keeper, behind, passes, questions, cancels>>

None == 0
Other == 99
On(rule) == rule \notin Off

Init ==
  /\ owner = None /\ queue = <<>> /\ other = "idle"
  /\ sent = <<>> /\ answers = <<>> /\ pushes = {}
  /\ state = [f \in Flows |-> "idle"] /\ under = [f \in Flows |-> None]
  /\ keeper = [f \in Flows |-> None] /\ behind = [f \in Flows |-> None]
  /\ passes = 0 /\ questions = [f \in Flows |-> 0] /\ cancels = 0

-----------------------------------------------------------------------------
(* The store. *)

Without(q, c) == SelectSeq(q, LAMBDA x : x # c)
Contains(q, c) == \E i \in 1..Len(q) : q[i] = c

Serve(q) == \* the lock goes to the first who waits
  IF q = <<>> THEN owner' = None /\ queue' = q /\ UNCHANGED <<pushes, other>>
  ELSE /\ owner' = Head(q) /\ queue' = Tail(q)
       /\ IF Head(q) = Other THEN other' = "holds" /\ UNCHANGED pushes
          ELSE pushes' = pushes \cup {Head(q)} /\ UNCHANGED other

Claim(c) == \* a claim that is queued is told which one is served directly before it
  IF owner \in {c, None}
  THEN /\ owner' = c /\ answers' = Append(answers, [claim |-> c, granted |-> TRUE, after |-> None])
       /\ UNCHANGED <<queue, pushes, other>>
  ELSE /\ queue' = IF Contains(queue, c) THEN queue ELSE Append(queue, c)
       /\ answers' = Append(answers, [claim |-> c, granted |-> FALSE,
                       after |-> IF Contains(queue, c) THEN None
                                 ELSE IF queue = <<>> THEN owner ELSE queue[Len(queue)]])
       /\ UNCHANGED <<owner, pushes, other>>

Store ==
  /\ sent # <<>> /\ sent' = Tail(sent)
  /\ LET m == Head(sent) IN
     IF m.verb = "claim" THEN Claim(m.claim)
     ELSE /\ UNCHANGED answers
          /\ IF owner = m.claim THEN Serve(queue)
             ELSE queue' = Without(queue, m.claim) /\ UNCHANGED <<owner, pushes, other>>
  /\ UNCHANGED <<state, under, keeper, behind, passes, questions, cancels>>

OtherComes ==
  /\ other = "idle"
  /\ IF owner = None THEN owner' = Other /\ other' = "holds" /\ UNCHANGED queue
     ELSE queue' = Append(queue, Other) /\ other' = "waits" /\ UNCHANGED owner
  /\ UNCHANGED <<sent, answers, pushes, state, under, keeper, behind, passes, questions, cancels>>

OtherGoes ==
  /\ other = "holds"
  /\ IF queue = <<>> THEN owner' = None /\ UNCHANGED <<queue, pushes>>
     ELSE owner' = Head(queue) /\ queue' = Tail(queue) /\ pushes' = pushes \cup {Head(queue)}
  /\ other' = "idle"
  /\ UNCHANGED <<sent, answers, state, under, keeper, behind, passes, questions, cancels>>

-----------------------------------------------------------------------------
(* The process. What it does at one time is one event of the line's mailbox, so it is one step here. *)

Message(verb, c) == [verb |-> verb, claim |-> c]
Forgotten(c) == \* no message about the claim is left anywhere: its id may stand for the flow's next claim
  /\ \A i \in 1..Len(sent) : sent[i].claim # c
  /\ \A i \in 1..Len(answers) : answers[i].claim # c /\ answers[i].after # c
  /\ c \notin pushes /\ owner # c /\ ~Contains(queue, c) /\ keeper[c] = None
  /\ \A f \in Flows : under[f] # c
AtStore == {f \in Flows : state[f] \in {"asked", "holds"}}

Come(f) ==
  /\ state[f] = "idle" /\ state' = [state EXCEPT ![f] = "wants"]
  /\ UNCHANGED <<owner, queue, other, sent, answers, pushes, under, keeper, behind, passes, questions, cancels>>

Ask(f) == \* for the first time
  /\ state[f] = "wants" /\ Forgotten(f) /\ (Shared => AtStore = {})
  /\ state' = [state EXCEPT ![f] = "asked"] /\ keeper' = [keeper EXCEPT ![f] = f]
  /\ sent' = Append(sent, Message("claim", f)) /\ questions' = [questions EXCEPT ![f] = 1]
  /\ UNCHANGED <<owner, queue, other, answers, pushes, under, behind, passes, cancels>>

AskAgain(f) ==
  /\ state[f] = "asked" /\ questions[f] < MostQuestions
  /\ sent' = Append(sent, Message("claim", f)) /\ questions' = [questions EXCEPT ![f] = @ + 1]
  /\ UNCHANGED <<owner, queue, other, answers, pushes, state, under, keeper, behind, passes, cancels>>

(* What stood behind f stands behind what was ahead of f. *)
LeavePlace(links, f) ==
  [g \in Flows |-> IF g = f THEN None ELSE IF links[g] = f THEN links[f] ELSE links[g]]
(* f is served: none is ahead of it. *)
Advance(links, f) == [g \in Flows |-> IF links[g] = f THEN None ELSE links[g]]

Granted(f) == \* the claim of a flow that waits for it
  /\ state' = [state EXCEPT ![f] = "holds"] /\ under' = [under EXCEPT ![f] = f] /\ passes' = 0
  /\ behind' = Advance(behind, f) /\ UNCHANGED <<sent, keeper>>

Withdraw(c) == /\ sent' = Append(sent, Message("release", c)) /\ keeper' = [keeper EXCEPT ![c] = None]
               /\ UNCHANGED <<state, under, passes, behind>>
Ignore == UNCHANGED <<state, under, passes, behind, sent, keeper>>

Follows(f, before) == \* of the answer "queued": the place of f is behind that one's, if that is of this process
  LET h == IF On("StoreSaysBehind")
           THEN IF before \in Flows THEN keeper[before] ELSE None
           ELSE IF AtStore \ {f} = {} THEN None ELSE CHOOSE g \in AtStore \ {f} : TRUE
  IN IF h \in {None, f} \/ Shared THEN LeavePlace(behind, f)
     ELSE IF behind[h] = f THEN behind \* where it was, as are those behind it
     ELSE [LeavePlace(behind, f) EXCEPT ![h] = f]

Hear ==
  /\ answers # <<>> /\ answers' = Tail(answers)
  /\ LET a == Head(answers)
         c == a.claim
     IN IF state[c] = "asked" THEN
          IF a.granted THEN Granted(c)
          ELSE behind' = (IF a.after = None THEN behind ELSE Follows(c, a.after))
               /\ UNCHANGED <<state, under, passes, sent, keeper>>
        ELSE IF keeper[c] = None \/ ~On("KeeperDecides")
             THEN \/ Withdraw(c) \* it was left, and must not be kept
                  \/ ~a.granted /\ questions[c] = 1 /\ Ignore \* its release left behind its only question
        ELSE Ignore
  /\ UNCHANGED <<owner, queue, other, pushes, questions, cancels>>

HearPush ==
  \E c \in pushes :
    /\ pushes' = pushes \ {c}
    /\ IF state[c] = "asked" /\ keeper[c] = c THEN Granted(c) ELSE Ignore
    /\ UNCHANGED <<owner, queue, other, answers, questions, cancels>>

(* Who gets the grant without the store. *)
Heirs(f) == IF Shared THEN {g \in Flows : state[g] = "wants"}
            ELSE {g \in Flows : g = behind[f] /\ state[g] = "asked"}
MayPass == passes < MostPasses \/ ~On("Budget")

Pass(f) ==
  /\ state[f] = "holds" /\ MayPass
  /\ \E g \in Heirs(f) :
       /\ state' = [state EXCEPT ![f] = IF On("GrantMoves") THEN "idle" ELSE "holds", ![g] = "holds"]
       /\ under' = [under EXCEPT ![f] = IF On("GrantMoves") THEN None ELSE @, ![g] = under[f]]
       /\ behind' = [Advance(behind, g) EXCEPT ![f] = None]
       /\ IF state[g] = "asked" /\ On("HeirGivesUpItsClaim")
          THEN /\ sent' = Append(sent, Message("release", g))
               /\ keeper' = [keeper EXCEPT ![g] = None, ![under[f]] = g]
          ELSE /\ UNCHANGED sent /\ keeper' = [keeper EXCEPT ![under[f]] = g]
  /\ passes' = IF passes < MostPasses THEN passes + 1 ELSE passes
  /\ UNCHANGED <<owner, queue, other, answers, pushes, questions, cancels>>

Release(f) ==
  /\ state[f] = "holds" /\ (Heirs(f) = {} \/ ~MayPass)
  /\ state' = [state EXCEPT ![f] = "idle"] /\ under' = [under EXCEPT ![f] = None]
  /\ sent' = Append(sent, Message("release", under[f])) /\ keeper' = [keeper EXCEPT ![under[f]] = None]
  /\ behind' = LeavePlace(behind, f)
  /\ UNCHANGED <<owner, queue, other, answers, pushes, passes, questions, cancels>>

Cancel(f) == \* while it waits
  /\ state[f] = "asked" /\ cancels < MostCancels /\ cancels' = cancels + 1
  /\ state' = [state EXCEPT ![f] = "idle"] /\ behind' = LeavePlace(behind, f)
  /\ keeper' = [keeper EXCEPT ![f] = None]
  /\ sent' = IF On("LeavingWithdraws") THEN Append(sent, Message("release", f)) ELSE sent
  /\ UNCHANGED <<owner, queue, other, answers, pushes, under, passes, questions>>

Process(f) == Come(f) \/ Ask(f) \/ Pass(f) \/ Release(f)
Next == \/ Store \/ OtherComes \/ OtherGoes \/ Hear \/ HearPush
        \/ \E f \in Flows : Process(f) \/ AskAgain(f) \/ Cancel(f)
Spec == Init /\ [][Next]_vars

(* Messages arrive and holders end. Flows need not come, ask again or cancel. *)
FairSpec == /\ Spec /\ WF_vars(Store) /\ WF_vars(OtherGoes) /\ WF_vars(Hear) /\ WF_vars(HearPush)
            /\ \A f \in Flows : WF_vars(Ask(f)) /\ WF_vars(Pass(f) \/ Release(f))

-----------------------------------------------------------------------------
OneHolder == /\ Cardinality({f \in Flows : state[f] = "holds"}) <= 1
             /\ \A f \in Flows : state[f] = "holds" => owner = under[f]

(* Not shared: a flow that is handed a grant overtakes none that stands in the store's queue and has not left. *)
Overtakes(f) == \E i, j \in 1..Len(queue) :
                  i < j /\ queue[j] = f /\ (queue[i] = Other \/ (queue[i] \in Flows /\ keeper[queue[i]] # None))
StoresOrder == [][\A f \in Flows : state[f] = "asked" /\ state'[f] = "holds" /\ under'[f] # f
                    => ~Overtakes(f)]_vars

(* All who wait at the store are served. *)
EverybodyIsServed == /\ (other = "waits") ~> (other = "holds")
                     /\ \A f \in Flows : state[f] = "asked" ~> state[f] # "asked"
=============================================================================
