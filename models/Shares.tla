------------------------------- MODULE Shares -------------------------------
(* How a store lets several flows share a lock: readers beside one another, some permits of a semaphore.

   Each flow says how many units it takes and how many may be in use with it, its capacity. A writer takes all of all.
   The first in the queue is granted as soon as the units in use and its own fit its capacity, and nobody overtakes it.
   A flow that dies goes on holding, or waiting, until its lease is over.

   How to read it: see Grant.tla. Left out: what is on its way between a client and the store, which does not change
   what the store decides, and tokens, which are one counter. Flows come again for ever, unless they die. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Flows, Units, Capacity, \* of each flow
          MostDeaths, MostCancels,
          Off                     \* rules that are switched off
VARIABLES holders, queue,         \* at the store
          dead,                   \* flows that are silent from now on
          cancels
vars == <<holders, queue, dead, cancels>>

Share == <<9, 1, 1>>              \* a writer and readers, for the configurations: 9 is all
Of    == <<9, 9, 9>>

On(rule) == rule \notin Off

Init == holders = {} /\ queue = <<>> /\ dead = {} /\ cancels = 0

RECURSIVE Sum(_)
Sum(s) == IF s = {} THEN 0 ELSE LET f == CHOOSE f \in s : TRUE IN Units[f] + Sum(s \ {f})

Fits(h, f) == IF On("Fits") THEN Sum(h) + Units[f] <= Capacity[f] ELSE Sum(h) < Capacity[f]
Waits(f) == \E i \in 1..Len(queue) : queue[i] = f
Without(q, f) == SelectSeq(q, LAMBDA x : x # f)
Alive == Flows \ dead

(* Who is granted next: the first, or nobody. *)
Next1(h, q) ==
  IF q = <<>> THEN 0
  ELSE IF On("NobodyOvertakes") THEN IF Fits(h, Head(q)) THEN Head(q) ELSE 0
  ELSE IF \E i \in 1..Len(q) : Fits(h, q[i])
       THEN q[CHOOSE i \in 1..Len(q) : Fits(h, q[i]) /\ \A j \in 1..(i - 1) : ~Fits(h, q[j])] ELSE 0

RECURSIVE Served(_, _)
Served(h, q) == LET f == Next1(h, q) IN IF f = 0 THEN <<h, q>> ELSE Served(h \cup {f}, Without(q, f))

Serve(h, q) == LET s == Served(h, q) IN holders' = s[1] /\ queue' = s[2]

-----------------------------------------------------------------------------
Come(f) ==
  /\ f \in Alive /\ f \notin holders /\ ~Waits(f)
  /\ Serve(holders, Append(queue, f)) /\ UNCHANGED <<dead, cancels>>

Release(f) ==
  /\ f \in Alive /\ f \in holders
  /\ Serve(holders \ {f}, queue) /\ UNCHANGED <<dead, cancels>>

Cancel(f) == \* it may have stood before others that fit
  /\ f \in Alive /\ Waits(f) /\ cancels < MostCancels /\ cancels' = cancels + 1
  /\ IF On("LeaverServes") THEN Serve(holders, Without(queue, f))
     ELSE queue' = Without(queue, f) /\ UNCHANGED holders
  /\ UNCHANGED dead

Die(f) ==
  /\ f \in Alive /\ (f \in holders \/ Waits(f)) /\ Cardinality(dead) < MostDeaths
  /\ dead' = dead \cup {f} /\ UNCHANGED <<holders, queue, cancels>>

Expire(f) == \* its lease is over: the others' renewals are not its own
  /\ f \in dead /\ (f \in holders \/ Waits(f))
  /\ On("OwnDeadline") \/ \A g \in Alive : g \notin holders /\ ~Waits(g)
  /\ Serve(holders \ {f}, Without(queue, f)) /\ UNCHANGED <<dead, cancels>>

Next == \E f \in Flows : Come(f) \/ Release(f) \/ Cancel(f) \/ Die(f) \/ Expire(f)
Spec == Init /\ [][Next]_vars

(* Who holds gives it up in time, and leases end. Nobody need come, cancel or die. *)
FairSpec == Spec /\ \A f \in Flows : WF_vars(Release(f)) /\ WF_vars(Expire(f))

-----------------------------------------------------------------------------
NeverTooMany == \A f \in holders : Capacity[f] = Units[f] => holders = {f}

(* Nobody waits who is first and fits. *)
NoneInVain == queue # <<>> => ~Fits(holders, Head(queue))

EverybodyIsServed == \A f \in Flows : Waits(f) ~> ~Waits(f)
=============================================================================
