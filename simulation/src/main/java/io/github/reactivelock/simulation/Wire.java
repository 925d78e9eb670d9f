package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.simulation.World.Channel;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * The way from a machine to a site, as drivers have it: two connections, one for questions and their answers and one
 * for pushes, each in order and neither in step with the other. What leaves is on its way for a while in either
 * direction.
 */
final class Wire implements QuorumNode {

    /** Looks on. */
    interface Witness {

        /** Something leaves a store for a client. */
        void leaves(Moment moment);

        /** A client asks although it could know that there is no connection. */
        void asksUnconnected(String question);

        /** A store has confirmed that claim, and shows another's lock. */
        void confirmsWrongly(Claim claim, LockInfo shown);
    }

    private final World world;
    private final Machine machine;
    private final Site site;
    private final Way way;
    private final Witness witness;
    private final Questions questions;
    private final boolean proposes;
    private final Channel pushes = new Channel();
    private final Set<Watching> watched = new LinkedHashSet<>();
    private boolean listening = true;
    private int pushCuts;
    private long deafAt;
    private int generation;
    private @Nullable QuorumNode store;
    private @Nullable FluxSink<Signal> signals;
    /** The server takes it for one that listens. */
    private boolean pushesForgotten;

    private long pushesLostUntil;
    private boolean closed;
    private int refusals;
    private long refusesUntil;

    /** @param proposes whether nodes see the tokens that claims propose; else as if the client's clock were wrong */
    Wire(World world, Machine machine, Site site, Manner manner, boolean proposes, Witness witness) {
        this.proposes = proposes;
        this.world = world;
        this.machine = machine;
        this.site = site;
        this.witness = witness;
        this.way = new Way(world, manner, witness);
        this.questions = new Questions(world, machine, manner, witness, way, this::store);
    }

    private QuorumNode store() {
        QuorumNode known = store;
        if (known == null || generation != site.generation()) {
            generation = site.generation();
            known = site.connect(machine.name, machine.scheduler(), () -> listening && !closed, this::push);
            store = known;
        }
        return known;
    }

    // ---- what breaks

    void cut(long nanos) {
        questions.cut(nanos);
    }

    void cutPushes(long nanos) {
        pushCuts++;
        pushesForgotten = false;
        deafAt = listening ? world.now() : deafAt;
        listening = false;
        int cut = pushCuts;
        watched.forEach(Watching::end);
        machine.later(nanos, null, () -> {
            if (pushCuts == cut) {
                listening = true;
                questions.atSite(() -> push(new Signal.Reconnected()));
                List.copyOf(watched).forEach(Watching::begin);
            }
        });
    }

    /** Both connections are dead, and neither the client nor the server knows it for so long. */
    void forget(long nanos) {
        questions.forget(nanos);
        pushesForgotten = true;
        int cut = pushCuts;
        machine.later(nanos, null, () -> {
            if (pushCuts == cut) {
                cutPushes(0);
            }
        });
    }

    /** Neither an end of a connection nor an answer: what is under way arrives when it is over. */
    void beSilent(long nanos) {
        way.beSilent(nanos);
    }

    /** Pushes alone are held up. */
    void pushLate(long nanos) {
        way.pushLate(nanos);
    }

    /** What the store tells of claims does not arrive, and neither side learns that. */
    void losePushes(long nanos) {
        pushesLostUntil = Math.max(pushesLostUntil, world.now() + nanos);
    }

    /** The next claim that arrives. */
    void refuseNext() {
        refusals++;
    }

    /** Each claim, for so long. */
    void refuse(long nanos) {
        refusesUntil = Math.max(refusesUntil, world.now() + nanos);
    }

    private boolean refuses() {
        if (refusals > 0) {
            refusals--;
            return true;
        }
        return world.now() < refusesUntil;
    }

    /** As the grant that is just leaving. */
    void nextIsLate(long nanos) {
        way.nextIsLate(nanos);
    }

    @Override
    public boolean supports(Share share) {
        return true;
    }

    @Override
    public boolean supportsRecall() {
        return true;
    }

    /** A driver knows that its connection for pushes is gone, unless that was forgotten on its way. */
    @Override
    public boolean hearsRecalls() {
        return listening;
    }

    /** For how long the driver has known that one of both is broken. */
    long unheardFor() {
        return Math.max(questions.brokenFor(), listening ? 0 : world.now() - deafAt);
    }

    @Override
    public Mono<Void> recall(String key) {
        return questions
                .ask(() -> "recall " + key, node -> node.recall(key).thenReturn(true))
                .then();
    }

    @Override
    public boolean isReady() {
        return questions.isOpen();
    }

    @Override
    public Mono<Void> ready() {
        return questions.ready();
    }

    // ---- pushes

    @Override
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            signals = sink;
            questions.atSite(() -> {
                store();
                push(new Signal.Reconnected());
            });
        });
    }

    private void push(Signal signal) {
        int connection = pushCuts;
        if (!listening) {
            return;
        }
        if (world.isLogged()) {
            world.log(machine.name, "push " + signal);
        }
        long late = way.backPushed(signal); // which may begin to lose it
        if (!(signal instanceof Signal.Reconnected) && world.now() < pushesLostUntil) {
            return;
        }
        machine.later(late, pushes, () -> {
            FluxSink<Signal> heard = signals;
            if (connection == pushCuts && listening && !pushesForgotten && heard != null) {
                heard.next(signal);
            }
        });
    }

    // ---- the verbs

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return questions.ask(
                () -> "claim " + claim.key() + " " + claim.id(),
                node -> refuses()
                        ? Mono.error(new Refusal(claim.id()))
                        : node.claim(claim).onErrorMap(Refusal::isForWantOfMemory, failure -> new Refusal(claim.id())));
    }

    @Override
    public Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease) {
        return questions.ask(() -> "vote " + claim.key() + " " + claim.id(), node -> {
            if (refuses()) {
                return Mono.error(new Refusal(claim.id()));
            }
            site.mayGrant();
            return node.vote(claim, ticket, proposes ? proposal : 0, longestLease);
        });
    }

    @Override
    public Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber) {
        return questions.ask(() -> "raise " + claim.id(), node -> node.raise(claim, fencingToken, votesNumber));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return questions.ask(
                () -> "renew " + held.size(),
                node -> node.renew(held)
                        .doOnNext(answer -> held.stream()
                                .filter(claim -> answer.renewed().contains(claim.id()))
                                .forEach(this::compare)));
    }

    private void compare(Claim renewed) {
        LockInfo shown = site.inspect(renewed.key());
        if (Truth.holders(shown).noneMatch(held -> held.owner().equals(renewed.owner()))) {
            witness.confirmsWrongly(renewed, shown);
        }
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return questions.ask(() -> "release " + claim.key() + " " + claim.id(), node -> {
            site.mayGrant();
            return node.release(claim);
        });
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return questions.ask(() -> "keep " + held.key() + " " + held.id(), node -> node.keep(held, kept));
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return questions.ask(() -> "inspect " + key, node -> node.inspect(key));
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.create(sink -> {
            Watching watching = new Watching(key, sink);
            watched.add(watching);
            sink.onDispose(() -> {
                watched.remove(watching);
                watching.end();
            });
            watching.begin();
        });
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return questions.ask(() -> "force " + key + " " + fencingToken, node -> node.forceRelease(key, fencingToken));
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> {
            closed = true;
            questions.close();
            List.copyOf(watched).forEach(watching -> watching.sink.error(new IllegalStateException("closed")));
        });
    }

    /**
     * Somebody who wants the events of a lock, on one connection after the other. A snapshot is taken when the watch is
     * in force. It is an answer and no push: what was pushed before it was taken may be heard after it.
     */
    private final class Watching {
        private final String key;
        private final FluxSink<LockEvent> sink;
        private final List<LockEvent> early = new ArrayList<>();
        private boolean isShown;
        private Disposable events = Disposables.disposed();

        Watching(String key, FluxSink<LockEvent> sink) {
            this.key = key;
            this.sink = sink;
        }

        void begin() {
            int connection = pushCuts;
            isShown = false;
            early.clear();
            questions.atSite(() -> {
                if (isOn(connection)) {
                    events = store().events(key)
                            .filter(event -> !(event instanceof LockEvent.Snapshot))
                            .subscribe(event -> push(connection, event), failure -> {});
                    questions.atSite(() -> show(connection));
                }
            });
        }

        private void show(int connection) {
            store().inspect(key).subscribe(info -> push(connection, new LockEvent.Snapshot(info)), failure -> {});
        }

        private boolean isOn(int connection) {
            return connection == pushCuts && listening && watched.contains(this);
        }

        private void push(int connection, LockEvent event) {
            if (world.isLogged()) {
                world.log(machine.name, "event " + event);
            }
            boolean isSnapshot = event instanceof LockEvent.Snapshot;
            machine.later(way.backPushed(event), isSnapshot ? null : pushes, () -> {
                if (isOn(connection) && !pushesForgotten) {
                    hear(event);
                }
            });
        }

        private void hear(LockEvent event) {
            if (!isShown && !(event instanceof LockEvent.Snapshot)) {
                early.add(event);
                return;
            }
            isShown = true;
            sink.next(event);
            while (!early.isEmpty()) {
                sink.next(early.remove(0));
            }
        }

        void end() {
            events.dispose();
        }
    }
}
