----------------------------- MODULE QuorumTrace -----------------------------
(* Courses that the code took, step by step, with what was seen of it after each step (module Recorded, which a test
   writes). Each step has to be one that Quorum.tla allows, and has to come to what was seen. One that does not is a
   deadlock here. *)
EXTENDS Quorum, Recorded
VARIABLES course, at

Now == Courses[course][at]
Asked(messages) == messages[Len(messages)][2]
Did(e) ==
  CASE e.step = "asks" -> Ask(e.claim, Asked(e.sent[e.claim][1]))
    [] e.step = "works" -> Work(e.claim, e.node) /\ lost' = lost + e.lost
    [] e.step = "wins" -> Win(e.claim)
    [] e.step = "holds" -> Hold(e.claim) /\ best[e.claim] = e.token
    [] e.step = "fails" -> Fruitless(e.claim) \* the code counts no answer to a question of the round before
    [] e.step = "busy" -> Busy(e.claim)
    [] e.step = "gave back" -> GaveBack(e.claim)
    [] e.step = "doubts" -> Doubt(e.claim)
    [] e.step = "releases" -> Release(e.claim)
    [] e.step = "agrees" -> Agree(e.claim) /\ best'[e.claim] = e.token
    [] e.step = "force" -> Force(e.claim, e.token)
    [] e.step = "forced" -> ForceAt(e.node)
Seen(e) ==
  /\ sent' = e.sent /\ owner' = e.owner
  /\ \A n \in Nodes : owner'[n] # 0 => shown'[n] = e.shown[n]
  /\ e.claim # 0 => phase'[e.claim] = e.phase

TraceInit == Init /\ course \in 1..Len(Courses) /\ at = 1
TraceNext ==
  \/ at <= Len(Courses[course]) /\ Did(Now) /\ Seen(Now) /\ at' = at + 1 /\ UNCHANGED course
  \/ at > Len(Courses[course]) /\ UNCHANGED <<vars, course, at>>
TraceSpec == TraceInit /\ [][TraceNext]_<<vars, course, at>>
=============================================================================
