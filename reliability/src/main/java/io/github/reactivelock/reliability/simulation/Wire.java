package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.World.Channel;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The way from a machine to a site, as drivers have it: two connections, one for questions and their answers and one
 * for pushes, each in order and neither in step with the other. What leaves is on its way for a while in either
 * direction. A connection that is cut loses what is under way, half of it before it arrives and half of it on the way
 * back; some of it is carried out afterwards. What had no answer then fails, or is asked again on the next connection.
 */
final class Wire implements QuorumNode {

    private static final double MUCH_LATER_SHARE = 0.01;
    private static final double DELIVERED_ALL_THE_SAME = 0.5;
    private static final long LATER = 60_000_000;

    /** How a driver behaves. */
    record Manner(long latency, boolean asksAgain) {}

    private final World world;
    private final Machine machine;
    private final Site site;
    private final Manner manner;
    private final Set<Question<?>> unanswered = new LinkedHashSet<>();
    private final List<MonoSink<Void>> awaiting = new ArrayList<>();
    private final Channel leaving = new Channel();
    private final Channel questions = new Channel();
    private final Channel answers = new Channel();
    private final Channel pushes = new Channel();
    private boolean connected = true;
    private boolean listening = true;
    /** How often each connection was cut. */
    private int cuts;

    private int pushCuts;
    /** Nothing arrives before, in either direction. */
    private long silentUntil;

    private long pushesSilentUntil;

    private int generation;
    private @Nullable QuorumNode store;
    private @Nullable FluxSink<Signal> signals;
    private boolean closed;

    Wire(World world, Machine machine, Site site, Manner manner) {
        this.world = world;
        this.machine = machine;
        this.site = site;
        this.manner = manner;
    }

    // ---- what breaks

    void cut(long nanos) {
        cuts++;
        connected = false;
        if (!manner.asksAgain()) {
            List<Question<?>> lost = List.copyOf(unanswered);
            unanswered.clear();
            lost.forEach(question -> machine.later(0, answers, question::fail));
        }
        int cut = cuts;
        machine.later(nanos, null, () -> {
            if (cuts == cut) {
                connect();
            }
        });
    }

    private void connect() {
        connected = true;
        List.copyOf(unanswered).forEach(Question::send);
        List<MonoSink<Void>> told = List.copyOf(awaiting);
        awaiting.clear();
        told.forEach(MonoSink::success);
    }

    void cutPushes(long nanos) {
        pushCuts++;
        listening = false;
        int cut = pushCuts;
        machine.later(nanos, null, () -> {
            if (pushCuts == cut) {
                listening = true;
                atSite(() -> push(new Signal.Reconnected()));
            }
        });
    }

    /** Neither an end of a connection nor an answer: what is under way arrives when it is over. */
    void beSilent(long nanos) {
        silentUntil = Math.max(silentUntil, world.now() + nanos);
    }

    /** Pushes alone are held up. */
    void pushLate(long nanos) {
        pushesSilentUntil = Math.max(pushesSilentUntil, world.now() + nanos);
    }

    boolean isIdle() {
        return unanswered.isEmpty();
    }

    // ---- questions

    @Override
    public boolean isReady() {
        return connected && !closed;
    }

    @Override
    public Mono<Void> ready() {
        return Mono.create(sink -> {
            if (connected) {
                sink.success();
            } else {
                awaiting.add(sink);
                var unused = sink.onDispose(() -> awaiting.remove(sink));
            }
        });
    }

    /** For how long something is on its way. */
    private long way() {
        long latency = manner.latency() / 2 + world.shortTime(2 * manner.latency());
        if (world.chance(MUCH_LATER_SHARE)) {
            latency += world.shortTime(LATER);
        }
        return Math.max(0, silentUntil - world.now()) + latency;
    }

    private QuorumNode store() {
        QuorumNode known = store;
        if (known == null || generation != site.generation()) {
            generation = site.generation();
            known = site.connect(machine.name, () -> listening && !closed, this::push);
            store = known;
        }
        return known;
    }

    private void atSite(Runnable step) {
        var unused = world.at(questions.after(world.now() + way()), step);
    }

    private <T> Mono<T> ask(String name, Function<QuorumNode, Mono<T>> question) {
        return Mono.create(sink -> new Question<>(name, question, sink).begin());
    }

    private final class Question<T> {
        private final String name;
        private final Function<QuorumNode, Mono<T>> question;
        private final MonoSink<T> asker;

        Question(String name, Function<QuorumNode, Mono<T>> question, MonoSink<T> asker) {
            this.name = name;
            this.question = question;
            this.asker = asker;
        }

        void begin() {
            if (closed) {
                asker.error(new IllegalStateException("the wire is closed"));
                return;
            }
            unanswered.add(this);
            if (connected) {
                send();
            } else if (!manner.asksAgain()) {
                unanswered.remove(this);
                machine.later(0, answers, this::fail);
            }
        }

        /** It was decided to ask; between that and the asking the process may be paused. */
        void send() {
            int connection = cuts;
            machine.later(0, leaving, () -> {
                if (connection == cuts) {
                    atSite(() -> arrive(connection));
                }
            });
        }

        private void arrive(int connection) {
            if (connection != cuts && !world.chance(DELIVERED_ALL_THE_SAME)) {
                world.log(machine.name, name + " is lost");
                return;
            }
            Disposable unused = question.apply(store()).subscribe(answer -> answer(connection, answer), failure -> {
                throw new IllegalStateException(name + " failed at the store", failure);
            });
        }

        private void answer(int connection, T answer) {
            if (world.isLogged()) {
                world.log(machine.name, name + " -> " + answer);
            }
            machine.later(way(), answers, () -> {
                if (connection == cuts && unanswered.remove(this)) {
                    asker.success(answer);
                }
            });
        }

        void fail() {
            asker.error(new IllegalStateException("the connection broke"));
        }
    }

    // ---- pushes

    @Override
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            signals = sink;
            atSite(() -> {
                QuorumNode unused = store();
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
        long late = Math.max(0, pushesSilentUntil - world.now());
        machine.later(late + way(), pushes, () -> {
            FluxSink<Signal> heard = signals;
            if (connection == pushCuts && listening && heard != null) {
                var unusedSink = heard.next(signal);
            }
        });
    }

    // ---- the verbs

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return ask("claim " + claim.key() + " " + claim.id(), node -> node.claim(claim));
    }

    @Override
    public Mono<Vote> vote(Claim claim, long ticket) {
        return ask("vote " + claim.key() + " " + claim.id(), node -> node.vote(claim, ticket));
    }

    @Override
    public Mono<Void> raise(Claim claim, long fencingToken) {
        return ask(
                        "raise " + claim.id(),
                        node -> node.raise(claim, fencingToken).thenReturn(true))
                .then();
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return ask("renew " + held.size(), node -> node.renew(held));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return ask("release " + claim.key() + " " + claim.id(), node -> node.release(claim));
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return ask("inspect " + key, node -> node.inspect(key));
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.error(new UnsupportedOperationException("events are not simulated"));
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return ask("force " + key + " " + fencingToken, node -> node.forceRelease(key, fencingToken));
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> closed = true);
    }
}
