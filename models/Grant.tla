------------------------------- MODULE Grant -------------------------------
(* What a client may believe of its claim.

   One claim asks one store for one lock. Questions, answers and pushes may take as long as they like, and answers and
   pushes may overtake one another (questions too, in GrantAnyOrder.cfg). The client may be paused at any moment, an
   operator may end the grant by force, and the store may lose its data. Everybody else who wants the lock is here as
   "Other": they come, get the lock and give it back whenever it suits our claim least. Whatever happens, the client may
   rely on a hold only while the store has given it the lock (Believed). As a store has one owner at a time, clients
   that each keep to this exclude one another.

   How to read it. A VARIABLE is what is remembered. An action is a formula over a step: x is the value before it and x'
   the one after it; an action may happen whenever its conditions are true. The checker (TLC) tries every action in
   every state that can be reached and looks at the invariants in each. Off is the set of rules that are switched off:
   in the configuration it is empty, and for each rule the build shows that without it a promise is broken.

   Left out: clocks of different speed (the margin), the next claim of the same client (it has another id, so to this
   one it is Other), and tokens that fall (a store that loses its counter goes on from its clock, which only rises). *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Lease,        \* how long a grant lasts, in ticks
          MostQuestions, MostRenewals, MostGrants, MostCuts, \* how often each may happen
          InOrder,      \* whether questions reach the store in the order in which they left
          Off           \* rules that are switched off
VARIABLES now,          \* the time; clocks run at the same speed
          owner,        \* at the store: who has the lock
          grants,       \* how many grants there were; the number of a grant is its fencing token
          until,        \* when the lease of our claim ends, if it is the owner
          queue,        \* who waits, in order
          ended,        \* the youngest grant of ours that is over; known to the store, and sometimes told
          cut,          \* grants of ours that ended before their time, by force or by loss of data
          questions,    \* on their way to the store
          answers,      \* on their way back
          pushes,       \* on their way, on another connection: tokens
          client        \* what the client knows
vars == <<now, owner, grants, until, queue, ended, cut, questions, answers, pushes, client>>

None == "none"
Me == "me"
Other == "other"
On(rule) == rule \notin Off
Max(a, b) == IF a > b THEN a ELSE b

Init ==
  /\ now = 0 /\ owner = None /\ grants = 0 /\ until = 0 /\ queue = <<>> /\ ended = 0 /\ cut = {}
  /\ questions = {} /\ answers = {} /\ pushes = {}
  /\ client = [phase |-> "trying", asked |-> 0, renewed |-> 0,
               ungrantedAt |-> 0,   \* the claim is known not to have had the lock yet
               newest |-> 0,        \* grants up to this token are over: what an answer "queued" or a grant said
               askedThen |-> 0,     \* how many questions had been asked when that was heard
               token |-> 0, confirmedAt |-> 0,
               told |-> 0]          \* (only for the promise) grants up to this one are over, as answers showed

-----------------------------------------------------------------------------
(* The store. Each question is answered in one atomic step. *)

Owns == owner = Me /\ now < until
IsFree == owner = None \/ (owner = Me /\ now >= until)
Waits == \E i \in 1..Len(queue) : queue[i] = Me
Without(q, who) == SelectSeq(q, LAMBDA w : w # who)

(* The youngest grant of ours that is over when the owner is another from now on. *)
EndOfMine == IF owner = Me THEN Max(ended, grants) ELSE ended

(* The lock goes to the first of a queue, and if that is our claim, a push leaves; free if none waits. *)
Serve(q) ==
  /\ ended' = EndOfMine
  /\ IF q = <<>>
     THEN owner' = None /\ queue' = q /\ UNCHANGED <<grants, until, pushes>>
     ELSE /\ owner' = Head(q) /\ queue' = Tail(q) /\ grants' = grants + 1
          /\ until' = IF Head(q) = Me THEN now + Lease ELSE until
          /\ pushes' = IF Head(q) = Me THEN pushes \cup {grants + 1} ELSE pushes

Answer(q, kind, token, past) ==
  answers' = answers \cup {[kind |-> kind, nr |-> q.nr, sentAt |-> q.sentAt, token |-> token, past |-> past]}

AnswerClaim(q) ==
  IF Owns THEN \* its lease begins anew
    /\ until' = now + Lease /\ Answer(q, "granted", grants, ended)
    /\ UNCHANGED <<owner, grants, queue, ended, pushes>>
  ELSE IF IsFree /\ (queue = <<>> \/ Head(queue) = Me) THEN
    /\ owner' = Me /\ grants' = grants + 1 /\ until' = now + Lease /\ queue' = Without(queue, Me)
    /\ ended' = EndOfMine /\ Answer(q, "granted", grants + 1, EndOfMine) /\ UNCHANGED pushes
  ELSE IF IsFree THEN \* somebody came before: it is their turn
    /\ owner' = Other /\ grants' = grants + 1 /\ ended' = EndOfMine
    /\ queue' = IF Waits THEN Tail(queue) ELSE Append(Tail(queue), Me)
    /\ Answer(q, "queued", grants + 1, EndOfMine) /\ UNCHANGED <<until, pushes>>
  ELSE
    /\ queue' = IF Waits THEN queue ELSE Append(queue, Me)
    /\ Answer(q, "queued", grants, ended) /\ UNCHANGED <<owner, grants, until, ended, pushes>>

(* A renewal names the claim, and its answer too: of which grant it speaks it does not say. *)
AnswerRenewal(q) ==
  /\ until' = IF Owns THEN now + Lease ELSE until
  /\ Answer(q, IF Owns THEN "renewed" ELSE "lost", 0, 0)
  /\ UNCHANGED <<owner, grants, queue, ended, pushes>>

Store ==
  \E q \in questions :
    /\ InOrder => \A other \in questions : q.nr <= other.nr
    /\ grants < MostGrants /\ questions' = questions \ {q}
    /\ IF q.kind = "claim" THEN AnswerClaim(q) ELSE AnswerRenewal(q)
    /\ UNCHANGED <<now, cut, client>>

OtherComes == \* or asks again, which is when a store notices that a lease is over
  /\ grants < MostGrants /\ Len(Without(queue, Me)) < 1
  /\ IF IsFree THEN Serve(Append(queue, Other))
     ELSE queue' = Append(queue, Other) /\ UNCHANGED <<owner, grants, until, ended, pushes>>
  /\ UNCHANGED <<now, cut, questions, answers, client>>

OtherGoes ==
  /\ owner = Other /\ grants < MostGrants /\ Serve(queue)
  /\ UNCHANGED <<now, cut, questions, answers, client>>

Force == \* an operator ends our grant before its time
  /\ Owns /\ Cardinality(cut) < MostCuts /\ grants < MostGrants
  /\ cut' = cut \cup {grants} /\ Serve(queue)
  /\ UNCHANGED <<now, questions, answers, client>>

LoseData ==
  /\ Owns /\ Cardinality(cut) < MostCuts
  /\ cut' = cut \cup {grants} /\ ended' = grants /\ owner' = None /\ queue' = <<>>
  /\ UNCHANGED <<now, grants, until, questions, answers, pushes, client>>

-----------------------------------------------------------------------------
(* The client. It may ask again at any time: out of patience, after a push, because connections were made anew. *)

Asked == client.asked + client.renewed

Ask ==
  /\ client.phase = "trying" /\ client.asked < MostQuestions
  /\ client' = [client EXCEPT !.asked = @ + 1, !.ungrantedAt = IF client.asked = 0 THEN now ELSE @]
  /\ questions' = questions \cup {[kind |-> "claim", nr |-> Asked + 1, sentAt |-> now]}
  /\ UNCHANGED <<now, owner, grants, until, queue, ended, cut, answers, pushes>>

Renew ==
  /\ client.phase = "held" /\ client.renewed < MostRenewals /\ now < client.confirmedAt + Lease
  /\ client' = [client EXCEPT !.renewed = @ + 1]
  /\ questions' = questions \cup {[kind |-> "renew", nr |-> Asked + 1, sentAt |-> now]}
  /\ UNCHANGED <<now, owner, grants, until, queue, ended, cut, answers, pushes>>

(* A hold begins, unless it would be over already. *)
Hold(c, token, since) ==
  IF now < since + Lease THEN [c EXCEPT !.phase = "held", !.token = token, !.confirmedAt = since] ELSE c
Heard(c, token) == \* whether or not it is used
  IF On("LowerIsOlder") /\ token > c.newest + 1 THEN [c EXCEPT !.newest = token - 1, !.askedThen = Asked] ELSE c
Confirm(c, since) == [c EXCEPT !.confirmedAt = Max(@, since)]
Lose(c) == [c EXCEPT !.phase = "over"]
ConfirmInTime(c, since) == IF now >= c.confirmedAt + Lease /\ On("LateRenewal") THEN Lose(c) ELSE Confirm(c, since)

HearGranted(c, a) ==
  LET since == IF On("CountsFromSending") THEN a.sentAt ELSE now
      isOldNews == On("OldNews") /\ a.nr <= c.askedThen /\ a.token <= c.newest
  IN CASE c.phase = "trying" /\ ~isOldNews -> Hold(Heard(c, a.token), a.token, since)
       [] c.phase = "held" /\ ~isOldNews /\ a.token = c.token -> ConfirmInTime(c, since)
       [] c.phase = "held" /\ ~isOldNews /\ a.token > c.token /\ On("GrantedAnew") -> Lose(c)
       [] OTHER -> c

HearQueued(c, a) ==
  CASE c.phase = "trying" ->
         [c EXCEPT !.newest = Max(@, a.token), !.askedThen = Asked, !.ungrantedAt = Max(@, a.sentAt)]
    [] c.phase = "held" /\ a.token >= c.token /\ On("QueuedSince") -> Lose(c)
    [] OTHER -> c

HearRenewed(c, a) ==
  IF c.phase = "held" THEN ConfirmInTime(c, IF On("ConfirmedFromSending") THEN a.sentAt ELSE now) ELSE c

Hear ==
  \E a \in answers :
    /\ answers' = answers \ {a}
    /\ LET c == [client EXCEPT !.told = Max(@, a.past)]
       IN client' = CASE a.kind = "granted" -> HearGranted(c, a)
                      [] a.kind = "queued" -> HearQueued(c, a)
                      [] a.kind = "renewed" -> HearRenewed(c, a)
                      [] OTHER -> Lose(c)
    /\ UNCHANGED <<now, owner, grants, until, queue, ended, cut, questions, pushes>>

(* A push does not say how old it is. *)
HearPush ==
  \E t \in pushes :
    /\ pushes' = pushes \ {t}
    /\ client' = IF client.phase = "trying" /\ (t > client.newest \/ ~On("NewestToken"))
                 THEN Hold(Heard(client, t), t, IF On("PushCountsFromUngranted") THEN client.ungrantedAt ELSE now)
                 ELSE client
    /\ UNCHANGED <<now, owner, grants, until, queue, ended, cut, questions, answers>>

Tick == now' = now + 1 /\ UNCHANGED <<owner, grants, until, queue, ended, cut, questions, answers, pushes, client>>

Next == Store \/ OtherComes \/ OtherGoes \/ Force \/ LoseData \/ Ask \/ Renew \/ Hear \/ HearPush \/ Tick
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* A hold is relied upon until its deadline, whether or not a timer of the client has run since. *)
Relies == client.phase = "held" /\ (now < client.confirmedAt + Lease \/ ~On("Deadline"))

(* The promise. A grant that was cut short is believed until the store has said so: until an answer to a question that
   the store got since the cut. *)
Believed == Relies => \/ Owns /\ grants = client.token
                      \/ client.token \in cut /\ client.token > client.told

(* For the checker: two states are the same if they differ only in how late it is. What is older than a lease is
   over. *)
Age(t) == IF now - t > Lease THEN Lease + 1 ELSE now - t
Aged(set) == {[m EXCEPT !.sentAt = Age(@)] : m \in set}
View == <<owner, grants, IF Owns THEN until - now ELSE 0, queue, ended, cut, Aged(questions), Aged(answers), pushes,
          [client EXCEPT !.ungrantedAt = Age(@), !.confirmedAt = Age(@)]>>
=============================================================================
