package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.FireAndForget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Questions that are put together: of those of one name one burst is unanswered at a time. Those that come meanwhile
 * leave with the next one, so each is answered by what left after it came. An answer is the whole burst's. Safe for use
 * from any thread.
 *
 * @param <Q> what one asker wants
 * @param <A> what a burst is answered with
 */
final class Together<Q, A> {

    /** Puts the questions of a burst. */
    interface Burst<Q, A> {
        /** {@code leaving} gives them, and is called when they leave. */
        Mono<A> ask(String name, Supplier<List<Q>> leaving);
    }

    private record Member<Q, A>(Q question, CompletableFuture<Connection.Answer<A>> answer) {}

    private final String what;
    private final int most;
    private final Burst<Q, A> burst;
    /** Those that have not left, of each name of which a burst is on its way. */
    private final Map<String, Deque<Member<Q, A>>> coming = new HashMap<>();

    /** At most so many questions leave in one burst. */
    Together(String what, int most, Burst<Q, A> burst) {
        this.what = what;
        this.most = most;
        this.burst = burst;
    }

    /** Cold; the question is put at subscription, and the answer has no limit in time. */
    Mono<A> ask(String name, Q question) {
        return Mono.defer(() -> answer(join(name, question)));
    }

    /** What comes of a question that was put by {@link #join}. */
    static <A> Mono<A> answer(CompletableFuture<Connection.Answer<A>> joined) {
        return Mono.fromFuture(joined, true).flatMap(Connection.Answer::asMono);
    }

    /** Puts a question at once. */
    CompletableFuture<Connection.Answer<A>> join(String name, Q question) {
        Member<Q, A> member = new Member<>(question, new CompletableFuture<>());
        boolean isFirst;
        synchronized (this) {
            isFirst = !coming.containsKey(name);
            coming.computeIfAbsent(name, absent -> new ArrayDeque<>(2)).add(member);
        }
        if (isFirst) {
            leave(name);
        }
        return member.answer;
    }

    private void leave(String name) {
        List<Member<Q, A>> members = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        Consumer<Connection.Answer<A>> end = answer -> {
            if (over.compareAndSet(false, true)) {
                if (members.isEmpty()) { // it could not leave
                    take(name, members);
                }
                members.forEach(member -> member.answer.complete(answer));
                goOn(name);
            }
        };
        Mono<A> answer = burst.ask(name, () -> take(name, members))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("no answer")))
                .doOnSuccess(found -> end.accept(new Connection.Answer<>(found, null)))
                .doOnError(error -> end.accept(new Connection.Answer<>(null, error)));
        Disposable unused = FireAndForget.run(what, answer);
    }

    private List<Q> take(String name, List<Member<Q, A>> members) {
        synchronized (this) {
            Deque<Member<Q, A>> line = coming.getOrDefault(name, new ArrayDeque<>());
            while (members.size() < most && !line.isEmpty()) {
                members.add(line.remove());
            }
        }
        return members.stream().map(Member::question).toList();
    }

    private void goOn(String name) {
        boolean more;
        synchronized (this) {
            Deque<Member<Q, A>> line = coming.get(name);
            more = line != null && !line.isEmpty();
            if (!more) {
                coming.remove(name);
            }
        }
        if (more) {
            leave(name);
        }
    }
}
