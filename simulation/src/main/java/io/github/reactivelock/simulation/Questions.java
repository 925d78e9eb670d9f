package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Manner.Order;
import io.github.reactivelock.simulation.World.Channel;
import io.github.reactivelock.spi.QuorumNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The connection for questions and their answers. One that is cut loses what is under way, half of it before it arrives
 * and half of it on the way back; some of it is carried out afterwards, in some manners even after what is asked on the
 * next connection. What had no answer then fails, or is asked again on the next connection.
 */
final class Questions {

    private static final double DELIVERED_ALL_THE_SAME = 0.5;

    private final World world;
    private final Machine machine;
    private final Manner manner;
    private final Wire.Witness witness;
    private final Way way;
    private final Supplier<QuorumNode> store;
    private final Set<Question<?>> unanswered = new LinkedHashSet<>();
    private final List<MonoSink<Void>> awaiting = new ArrayList<>();
    private final Channel leaving = new Channel();
    /** What is on its way to the store, over the connection that is up or over all. */
    private Channel arriving = new Channel();

    private final Channel answers = new Channel();
    private boolean connected = true;
    private boolean forgotten;
    private boolean closed;
    private int cuts;
    private long brokenAt;

    Questions(World world, Machine machine, Manner manner, Wire.Witness witness, Way way, Supplier<QuorumNode> store) {
        this.world = world;
        this.machine = machine;
        this.manner = manner;
        this.witness = witness;
        this.way = way;
        this.store = store;
    }

    void cut(long nanos) {
        cuts++;
        forgotten = false;
        brokenAt = connected ? world.now() : brokenAt;
        arriving = manner.overtakes() ? new Channel() : arriving;
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

    /** Nothing goes over it any more, and no end of it is seen for so long. */
    void forget(long nanos) {
        forgotten = true;
        int cut = cuts;
        machine.later(nanos, null, () -> {
            if (cuts == cut) {
                cut(0);
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

    void close() {
        closed = true;
    }

    boolean isOpen() {
        return connected && !closed;
    }

    long brokenFor() {
        return connected ? 0 : world.now() - brokenAt;
    }

    Mono<Void> ready() {
        return Mono.create(sink -> {
            if (connected) {
                sink.success();
            } else {
                awaiting.add(sink);
                sink.onDispose(() -> awaiting.remove(sink));
            }
        });
    }

    void atSite(Runnable step) {
        world.at(arriving.after(world.now() + way.there()), step);
    }

    private boolean isInOrder() {
        return manner.order() != Order.NONE;
    }

    private void go(Runnable step) {
        if (isInOrder()) {
            atSite(step);
        } else {
            world.at(world.now() + way.there(), step);
        }
    }

    <T> Mono<T> ask(Supplier<String> name, Function<QuorumNode, Mono<T>> question) {
        return manner.immediate()
                ? Mono.defer(() -> question.apply(store.get()))
                : Mono.create(sink -> {
                    // Where threads stand still, one of them may have looked for a connection before it broke.
                    if (!connected && !closed && manner.standstills() == 0) {
                        witness.asksUnconnected(name.get());
                    }
                    machine.mayStandStill();
                    new Question<>(name, question, sink).begin();
                });
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
            machine.later(0, isInOrder() ? leaving : null, () -> {
                if (connection == cuts) {
                    go(() -> arrive(connection));
                }
            });
        }

        private void arrive(int connection) {
            boolean isLost = forgotten || (connection != cuts && !world.chance(DELIVERED_ALL_THE_SAME));
            if (isLost) {
                if (world.isLogged()) {
                    world.log(machine.name, name.get() + " is lost");
                }
                return;
            }
            question.apply(store.get()).subscribe(answer -> answer(connection, answer), failure -> {
                if (!(failure instanceof Refusal) && !Refusal.isForWantOfMemory(failure)) {
                    throw new IllegalStateException(name.get() + " failed at the store", failure);
                }
                refuse(connection, failure);
            });
        }

        private void answer(int connection, T answer) {
            if (world.isLogged()) {
                world.log(machine.name, name.get() + " -> " + answer);
            }
            machine.later(way.back(answer), manner.order() == Order.KEPT ? answers : null, () -> {
                if (connection == cuts && !forgotten && unanswered.remove(this)) {
                    asker.success(answer);
                }
            });
        }

        private void refuse(int connection, Throwable failure) {
            if (world.isLogged()) {
                world.log(machine.name, name.get() + " -> " + failure);
            }
            machine.later(way.back(failure), manner.order() == Order.KEPT ? answers : null, () -> {
                if (connection == cuts && !forgotten && unanswered.remove(this)) {
                    asker.error(failure);
                }
            });
        }

        void fail() {
            asker.error(new IllegalStateException("the connection broke"));
        }
    }
}
