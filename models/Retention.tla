------------------------------ MODULE Retention ------------------------------
(* How a process keeps a claim that no flow of it needs, and how others still get the lock.

   The flows of one process share a claim, as in Cohort.tla with Shared. When the last of them gives the lock back, the
   process may keep the claim: it is idle then, and the next flow has the lock without a question. Others queue at the
   store as ever. One that queues while the claim owns the lock calls it back: the store sends a recall to its process,
   on the connection of the pushes, so it may come before the answer that granted the claim, or be lost.

   How to read it: see Grant.tla. Left out: how a grant is counted (Grant.tla); an idle claim is "fresh" until the
   process knows that its lease may be over, and the store ends no lease before that. A hold is renewed, so it
   stays fresh. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Others,       \* other processes: numbers above those of the claims
          Ends,         \* whether the time of keeping ends
          Losses,       \* whether recalls are lost
          MostPasses, MostQuestions,
          Off           \* rules that are switched off
VARIABLES owner, queue, \* at the store
          other,        \* what each other process does: "idle", "waits" or "holds"
          sent,         \* on its way to the store, in order
          answers,      \* on their way back, in order
          grants,       \* pushes on their way back: claims that were granted
          recalls,      \* and claims that were called back
          state,        \* of the process: "none", "asked", "held" (by a flow) or "kept" (idle)
          claim,        \* what it has at the store, or none
          wants,        \* a flow of it waits
          queued,       \* its claim was queued: others may stand behind it, and they called another owner back
          recalled, over, fresh, passes, questions
vars == <<owner, queue, other, sent, answers, grants, recalls,
          state, claim, wants, queued, recalled, over, fresh, passes, questions>>
store == <<owner, queue, other, grants, recalls>>
process == <<state, claim, wants, queued, recalled, over, fresh, passes, questions>>

None == 0
Claims == {1, 2}
On(rule) == rule \notin Off

Init ==
  /\ owner = None /\ queue = <<>> /\ other = [o \in Others |-> "idle"]
  /\ sent = <<>> /\ answers = <<>> /\ grants = {} /\ recalls = {}
  /\ state = "none" /\ claim = None /\ wants = FALSE
  /\ queued = FALSE /\ recalled = FALSE /\ over = FALSE /\ fresh = TRUE /\ passes = 0 /\ questions = 0

-----------------------------------------------------------------------------
(* The store. *)

Contains(q, c) == \E i \in 1..Len(q) : q[i] = c

Serve(q, others) == \* the lock goes to the first who waits
  IF q = <<>> THEN owner' = None /\ queue' = q /\ other' = others /\ UNCHANGED grants
  ELSE /\ owner' = Head(q) /\ queue' = Tail(q)
       /\ IF Head(q) \in Others THEN other' = [others EXCEPT ![Head(q)] = "holds"] /\ UNCHANGED grants
          ELSE other' = others /\ grants' = grants \cup {Head(q)}

Answer(c, granted) == answers' = Append(answers, [claim |-> c, granted |-> granted])

Store ==
  /\ sent # <<>> /\ sent' = Tail(sent)
  /\ LET m == Head(sent) IN
     IF m.verb = "claim" THEN
       /\ UNCHANGED <<other, grants, recalls>>
       /\ IF owner \in {m.claim, None} THEN owner' = m.claim /\ Answer(m.claim, TRUE) /\ UNCHANGED queue
          ELSE /\ queue' = (IF Contains(queue, m.claim) THEN queue ELSE Append(queue, m.claim))
               /\ Answer(m.claim, FALSE) /\ UNCHANGED owner
     ELSE /\ UNCHANGED <<answers, recalls>>
          /\ IF owner = m.claim THEN Serve(queue, other)
             ELSE /\ queue' = SelectSeq(queue, LAMBDA x : x # m.claim) /\ UNCHANGED <<owner, other, grants>>
  /\ UNCHANGED process

Expire == \* nothing renews what is idle, or was left
  /\ owner \in Claims /\ (owner # claim \/ ~fresh)
  /\ Serve(queue, other) /\ UNCHANGED <<sent, answers, recalls>> /\ UNCHANGED process

CallBack == recalls' = IF owner \in Claims THEN recalls \cup {owner} ELSE recalls

OtherComes(o) ==
  /\ other[o] = "idle"
  /\ IF owner = None THEN owner' = o /\ other' = [other EXCEPT ![o] = "holds"] /\ UNCHANGED <<queue, recalls>>
     ELSE queue' = Append(queue, o) /\ other' = [other EXCEPT ![o] = "waits"] /\ CallBack /\ UNCHANGED owner
  /\ UNCHANGED <<sent, answers, grants>> /\ UNCHANGED process

OtherGoes(o) ==
  /\ other[o] = "holds" /\ Serve(queue, [other EXCEPT ![o] = "idle"])
  /\ UNCHANGED <<sent, answers, recalls>> /\ UNCHANGED process

OtherGivesUp(o) == \* the recall that it caused is still on its way
  /\ other[o] = "waits" /\ other' = [other EXCEPT ![o] = "idle"] /\ queue' = SelectSeq(queue, LAMBDA x : x # o)
  /\ UNCHANGED <<owner, sent, answers, grants, recalls>> /\ UNCHANGED process

Lose ==
  /\ Losses /\ \E c \in recalls : recalls' = recalls \ {c}
  /\ UNCHANGED <<owner, queue, other, sent, answers, grants>> /\ UNCHANGED process

-----------------------------------------------------------------------------
(* The process. *)

Message(verb, c) == [verb |-> verb, claim |-> c]
Forgotten(c) == \* no message about the claim is left anywhere: its number may stand for the next claim
  /\ \A i \in 1..Len(sent) : sent[i].claim # c
  /\ \A i \in 1..Len(answers) : answers[i].claim # c
  /\ c \notin grants /\ c \notin recalls /\ owner # c /\ ~Contains(queue, c) /\ claim # c

Come ==
  /\ ~wants /\ wants' = TRUE
  /\ UNCHANGED <<sent, answers, state, claim, queued, recalled, over, fresh, passes, questions>> /\ UNCHANGED store

Ask ==
  /\ state = "none" /\ wants
  /\ \E c \in Claims :
       Forgotten(c) /\ claim' = c /\ sent' = Append(sent, Message("claim", c))
  /\ state' = "asked" /\ wants' = FALSE /\ queued' = FALSE /\ recalled' = FALSE /\ over' = FALSE /\ fresh' = TRUE
  /\ passes' = 0 /\ questions' = 1
  /\ UNCHANGED answers /\ UNCHANGED store

AskAgain ==
  /\ state = "asked" /\ questions < MostQuestions
  /\ sent' = Append(sent, Message("claim", claim)) /\ questions' = questions + 1
  /\ UNCHANGED <<answers, state, claim, wants, queued, recalled, over, fresh, passes>> /\ UNCHANGED store

Keeper(c) == claim = c /\ (state # "kept" \/ On("KeptIsKnown"))

Hear ==
  /\ answers # <<>> /\ answers' = Tail(answers)
  /\ LET a == Head(answers) IN
     IF state = "asked" /\ claim = a.claim THEN
       /\ IF a.granted THEN state' = "held" /\ UNCHANGED queued
          ELSE queued' = TRUE /\ UNCHANGED state
       /\ UNCHANGED sent
     ELSE /\ sent' = IF Keeper(a.claim) THEN sent ELSE Append(sent, Message("release", a.claim))
          /\ UNCHANGED <<state, queued>>
  /\ UNCHANGED <<claim, wants, recalled, over, fresh, passes, questions>> /\ UNCHANGED store

HearGrant ==
  /\ \E c \in grants :
       /\ grants' = grants \ {c}
       /\ IF state = "asked" /\ claim = c THEN state' = "held" /\ queued' = TRUE
          ELSE UNCHANGED <<state, queued>>
  /\ UNCHANGED <<owner, queue, other, recalls, sent, answers, claim, wants, recalled, over, fresh, passes, questions>>

GiveBack ==
  /\ sent' = Append(sent, Message("release", claim)) /\ state' = "none" /\ claim' = None
  /\ UNCHANGED <<wants, queued, recalled, over, fresh, passes, questions>>

Remembers == (state = "asked" /\ On("EarlyRecall")) \/ (state = "held" /\ On("RecallStays"))

HearRecall ==
  /\ \E c \in recalls :
       /\ recalls' = recalls \ {c}
       /\ IF claim = c /\ state = "kept" /\ On("CallsBack") THEN GiveBack
          ELSE /\ recalled' = (recalled \/ (claim = c /\ Remembers))
               /\ UNCHANGED <<sent, state, claim, wants, queued, over, fresh, passes, questions>>
  /\ UNCHANGED <<owner, queue, other, grants, answers>>

Called == recalled \/ over \/ (queued /\ On("QueuedIsNotKept"))
MayPass == ~Called \/ passes < MostPasses

Leave == \* the flow that is in gives the lock back
  /\ state = "held"
  /\ IF wants /\ MayPass
     THEN /\ wants' = FALSE /\ passes' = (IF passes < MostPasses THEN passes + 1 ELSE passes)
          /\ UNCHANGED <<sent, state, claim, queued, recalled, over, fresh, questions>>
     ELSE IF ~wants /\ ~Called
          THEN state' = "kept" /\ UNCHANGED <<sent, claim, wants, queued, recalled, over, fresh, passes, questions>>
          ELSE GiveBack
  /\ UNCHANGED answers /\ UNCHANGED store

Stale ==
  /\ state = "kept" /\ fresh /\ fresh' = FALSE
  /\ UNCHANGED <<sent, answers, state, claim, wants, queued, recalled, over, passes, questions>> /\ UNCHANGED store

Take == \* a flow comes to the claim that is kept
  /\ state = "kept" /\ wants
  /\ IF fresh \/ ~On("FreshToUse")
     THEN /\ state' = "held" /\ wants' = FALSE /\ fresh' = TRUE
          /\ UNCHANGED <<sent, claim, queued, recalled, over, passes, questions>>
     ELSE GiveBack
  /\ UNCHANGED answers /\ UNCHANGED store

End == \* its time is over, of which none begins again when a flow has had it meanwhile
  /\ Ends /\ (state = "kept" \/ (On("KeptOnce") /\ state = "held" /\ ~over))
  /\ IF state = "kept" THEN GiveBack
     ELSE over' = TRUE /\ UNCHANGED <<sent, state, claim, wants, queued, recalled, fresh, passes, questions>>
  /\ UNCHANGED answers /\ UNCHANGED store

Next == \/ Store \/ Expire \/ Lose \/ (\E o \in Others : OtherComes(o) \/ OtherGoes(o) \/ OtherGivesUp(o))
        \/ Come \/ Ask \/ AskAgain \/ Hear \/ HearGrant \/ HearRecall \/ Leave \/ Stale \/ Take \/ End
Spec == Init /\ [][Next]_vars

(* Messages arrive, holders end, and time passes where it ends anything. Nobody need come, and no lease need end. *)
FairSpec == /\ Spec /\ WF_vars(Store) /\ WF_vars(Hear) /\ WF_vars(HearGrant) /\ WF_vars(HearRecall)
            /\ WF_vars(Ask) /\ WF_vars(Leave) /\ WF_vars(Take) /\ WF_vars(End)
            /\ \A o \in Others : WF_vars(OtherGoes(o))

-----------------------------------------------------------------------------
OneHolder == state = "held" => owner = claim

EverybodyIsServed == /\ wants ~> ~wants
                     /\ \A o \in Others : (other[o] = "waits") ~> (other[o] # "waits")
=============================================================================
