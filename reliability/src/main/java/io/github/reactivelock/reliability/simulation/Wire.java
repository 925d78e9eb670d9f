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
import java.util.function.Supplier;
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

    private static final double DELIVERED_ALL_THE_SAME = 0.5;

    /**
     * How a driver and its network behave.
     *
     * @param latency nanoseconds that a question takes on its way, about
     * @param lateShare of what is much later
     * @param latest by how many nanoseconds that is late at most
     * @param asksAgain what a broken connection left without an answer
     * @param answersInOrder as on one connection; else answers overtake one another
     * @param immediate there is no way: the store answers inside the call, as the one in the process does
     */
    record Manner(
            long latency,
            double lateShare,
            long latest,
            boolean asksAgain,
            boolean answersInOrder,
            boolean immediate) {}

    /** Looks on. */
    interface Witness {

        /** A grant leaves a store for a client. */
        void grants();

        /** A client asks although it could know that there is no connection. */
        void asksUnconnected(String question);

        /** A client hears what became of a claim. */
        void hears(Claim claim, ClaimResult answer);
    }

    private final World world;
    private final Machine machine;
    private final Site site;
    private final Manner manner;
    private final Witness witness;
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
    /** By how much the next thing that leaves the store is late. */
    private long nextIsLate;

    private int generation;
    private @Nullable QuorumNode store;
    private @Nullable FluxSink<Signal> signals;
    private boolean closed;

    Wire(World world, Machine machine, Site site, Manner manner, Witness witness) {
        this.world = world;
        this.machine = machine;
        this.site = site;
        this.manner = manner;
        this.witness = witness;
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

    /** As the grant that is just leaving. */
    void nextIsLate(long nanos) {
        nextIsLate = nanos;
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
        if (world.chance(manner.lateShare())) {
            latency += world.shortTime(manner.latest());
        }
        return Math.max(0, silentUntil - world.now()) + latency;
    }

    private long wayBack(boolean grant) {
        if (grant) {
            witness.grants();
        }
        long late = nextIsLate;
        nextIsLate = 0;
        return late + way();
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

    private <T> Mono<T> ask(Supplier<String> name, Function<QuorumNode, Mono<T>> question) {
        return manner.immediate()
                ? Mono.defer(() -> question.apply(store()))
                : Mono.create(sink -> new Question<>(name, question, sink).begin());
    }

    private final class Question<T> {
        private final Supplier<String> name;
        private final Function<QuorumNode, Mono<T>> question;
        private final MonoSink<T> asker;

        Question(Supplier<String> name, Function<QuorumNode, Mono<T>> question, MonoSink<T> asker) {
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
            if (!connected) {
                witness.asksUnconnected(name.get());
            }
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
                if (world.isLogged()) {
                    world.log(machine.name, name.get() + " is lost");
                }
                return;
            }
            Disposable unused = question.apply(store()).subscribe(answer -> answer(connection, answer), failure -> {
                throw new IllegalStateException(name.get() + " failed at the store", failure);
            });
        }

        private void answer(int connection, T answer) {
            if (world.isLogged()) {
                world.log(machine.name, name.get() + " -> " + answer);
            }
            machine.later(wayBack(isGrant(answer)), manner.answersInOrder() ? answers : null, () -> {
                if (connection == cuts && unanswered.remove(this)) {
                    asker.success(answer);
                }
            });
        }

        private boolean isGrant(T answer) {
            return answer instanceof ClaimResult.Granted
                    || (answer instanceof Vote vote && vote.result() instanceof ClaimResult.Granted);
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
        long way = wayBack(signal instanceof Signal.Grant);
        long late = Math.max(0, pushesSilentUntil - world.now());
        machine.later(late + way, pushes, () -> {
            FluxSink<Signal> heard = signals;
            if (connection == pushCuts && listening && heard != null) {
                var unusedSink = heard.next(signal);
            }
        });
    }

    // ---- the verbs

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return ask(() -> "claim " + claim.key() + " " + claim.id(), node -> node.claim(claim))
                .doOnNext(answer -> witness.hears(claim, answer));
    }

    @Override
    public Mono<Vote> vote(Claim claim, long ticket) {
        return ask(() -> "vote " + claim.key() + " " + claim.id(), node -> node.vote(claim, ticket));
    }

    @Override
    public Mono<Boolean> raise(Claim claim, long fencingToken) {
        return ask(() -> "raise " + claim.id(), node -> node.raise(claim, fencingToken));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return ask(() -> "renew " + held.size(), node -> node.renew(held));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return ask(() -> "release " + claim.key() + " " + claim.id(), node -> node.release(claim));
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return ask(() -> "inspect " + key, node -> node.inspect(key));
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.error(new UnsupportedOperationException("events are not simulated"));
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return ask(() -> "force " + key + " " + fencingToken, node -> node.forceRelease(key, fencingToken));
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> closed = true);
    }
}
