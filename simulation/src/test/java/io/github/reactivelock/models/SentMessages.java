package io.github.reactivelock.models;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * What a claim told each node that has not carried it out yet, as {@code models/Quorum.tla} writes it down. All nodes,
 * or some, are told the same one after the other, which is one step of the model.
 */
final class SentMessages {

    /** On its way. */
    record Message(String what, Runnable carriedOut, Runnable lost) {}

    private final List<Deque<Message>> onTheirWay;
    private final List<List<String>> toNodes;
    /** Of the step that is under way. */
    private String step = "";

    private int told;
    /** Nodes that were told again to give back, instead of being asked. */
    private final List<Integer> toldAgain = new ArrayList<>();

    private String asked = "";

    SentMessages(int nodes) {
        this.onTheirWay = IntStream.range(0, nodes)
                .<Deque<Message>>mapToObj(node -> new ArrayDeque<>())
                .toList();
        this.toNodes = IntStream.range(0, nodes)
                .<List<String>>mapToObj(node -> new ArrayList<>())
                .toList();
    }

    <T> void leaves(int node, String what, Mono<T> question, MonoSink<T> answer) {
        onTheirWay
                .get(node)
                .add(new Message(
                        what,
                        () -> carryOut(question, answer::success),
                        () -> carryOut(question, unheard -> answer.error(new IllegalStateException("lost")))));
    }

    private static <T> void carryOut(Mono<T> question, Consumer<T> answered) {
        Disposable unused = question.subscribe(answered);
    }

    @Nullable
    Message arrives(int node) {
        return onTheirWay.get(node).poll();
    }

    /** Whether the first one at a node says that a vote is to be given back before it is asked for. */
    boolean isAgain(int node) {
        return toNodes.get(node).get(0).contains("again");
    }

    /** Whether there is more than one at some node. */
    boolean waits() {
        return onTheirWay.stream().anyMatch(messages -> messages.size() > 1);
    }

    boolean isOfOtherStep(String what) {
        return !what.equals(step);
    }

    void begin(String what) {
        step = what;
        told = 0;
    }

    void add(int node, String message) {
        told++;
        toNodes.get(node).add(message);
        asked = message;
    }

    /** It is asked when it has given back. */
    void addAgain(int node) {
        told++;
        toldAgain.add(node);
    }

    /** What the step told; empty if none is under way. */
    String end() {
        toldAgain.forEach(node -> toNodes.get(node).add(asked.replace("vote", "again")));
        toldAgain.clear();
        String ended = step;
        step = "";
        return ended;
    }

    /** How many nodes the last step told. */
    int told() {
        return told;
    }

    /** Apart from the others: the vote has come back, or came late. */
    void addToOne(int node, String message) {
        toNodes.get(node).add(message);
    }

    void carriedOut(int node) {
        String unused = toNodes.get(node).remove(0);
    }

    boolean hasTwoVotesAtANode() {
        return toNodes.stream()
                .anyMatch(messages -> messages.stream()
                                .filter(message -> message.contains("vote"))
                                .count()
                        > 1);
    }

    @Override
    public String toString() {
        return Tlc.tuple(toNodes, messages -> Tlc.tuple(messages, text -> text));
    }
}
