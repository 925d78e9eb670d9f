----------------------------- MODULE CohortTrace -----------------------------
(* As QuorumTrace, of Cohort.tla: the engine's courses. *)
EXTENDS Cohort, Recorded
VARIABLES course, at

Now == Courses[course][at]
Did(e) ==
  CASE e.step = "comes" -> Come(e.flow)
    [] e.step = "asks" -> Ask(e.flow)
    [] e.step = "asks again" -> AskAgain(e.flow)
    [] e.step = "store" -> Store
    [] e.step = "hears" -> Hear
    [] e.step = "hears a push" -> HearPush
    [] e.step = "passes" -> Pass(e.flow)
    [] e.step = "releases" -> Release(e.flow)
    [] e.step = "cancels" -> Cancel(e.flow)
    [] e.step = "other comes" -> OtherComes
    [] e.step = "other goes" -> OtherGoes
Seen(e) ==
  /\ owner' = e.owner /\ queue' = e.queue /\ pushes' = e.pushes
  /\ sent' = e.sent /\ state' = e.state /\ under' = e.under

TraceInit == Init /\ course \in 1..Len(Courses) /\ at = 1
TraceNext ==
  \/ at <= Len(Courses[course]) /\ Did(Now) /\ Seen(Now) /\ at' = at + 1 /\ UNCHANGED course
  \/ at > Len(Courses[course]) /\ UNCHANGED <<vars, course, at>>
TraceSpec == TraceInit /\ [][TraceNext]_<<vars, course, at>>
=============================================================================
