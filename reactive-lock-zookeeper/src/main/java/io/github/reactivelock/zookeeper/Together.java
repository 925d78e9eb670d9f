package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.FireAndForget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** No record, because two that ask the same are two. */
    private static final class Member<Q, A> {

        final Q question;
        final CompletableFuture<Connection.Answer<A>> answer = new CompletableFuture<>();

        Member(Q question) {
            this.question = question;
        }
    }

    private final String what;
    private final int most;
    private final Burst<Q, A> burst;
    /** Those that have not left, of each name of which a burst is on its way. */
    private final Map<String, Set<Member<Q, A>>> coming = new HashMap<>();

    /** At most so many questions leave in one burst. */
    Together(String what, int most, Burst<Q, A> burst) {
        this.what = what;
        this.most = most;
        this.burst = burst;
    }

    /**
     * Cold; the question is put at subscription, and the answer has no limit in time. One that is not waited for any
     * more is not put, if it has not left.
     */
    Mono<A> ask(String name, Q question) {
        return Mono.defer(() -> {
            Member<Q, A> member = new Member<>(question);
            join(name, member);
            return answer(member.answer).doOnCancel(() -> withdraw(name, member));
        });
    }

    /** What comes of a question that was put by {@link #join}. */
    static <A> Mono<A> answer(CompletableFuture<Connection.Answer<A>> joined) {
        return Mono.fromFuture(joined, true).flatMap(Connection.Answer::asMono);
    }

    /** Puts a question at once. */
    CompletableFuture<Connection.Answer<A>> join(String name, Q question) {
        Member<Q, A> member = new Member<>(question);
        join(name, member);
        return member.answer;
    }

    private void join(String name, Member<Q, A> member) {
        boolean isFirst;
        synchronized (this) {
            isFirst = !coming.containsKey(name);
            coming.computeIfAbsent(name, absent -> new LinkedHashSet<>(2)).add(member);
        }
        if (isFirst) {
            leave(name);
        }
    }

    private synchronized void withdraw(String name, Member<Q, A> member) {
        Set<Member<Q, A>> line = coming.get(name);
        if (line != null) {
            line.remove(member);
        }
    }

    private void leave(String name) {
        List<Member<Q, A>> members = new ArrayList<>();
        AtomicBoolean hasLeft = new AtomicBoolean();
        AtomicBoolean over = new AtomicBoolean();
        Consumer<Connection.Answer<A>> end = answer -> {
            if (over.compareAndSet(false, true)) {
                if (!hasLeft.get()) {
                    take(name, members);
                }
                members.forEach(member -> member.answer.complete(answer));
                goOn(name);
            }
        };
        Mono<A> answer = burst.ask(name, () -> {
                    hasLeft.set(true);
                    take(name, members);
                    return members.stream().map(member -> member.question).toList();
                })
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("no answer")))
                .doOnSuccess(found -> end.accept(new Connection.Answer<>(found, null)))
                .doOnError(error -> end.accept(new Connection.Answer<>(null, error)));
        Disposable unused = FireAndForget.run(what, answer);
    }

    private synchronized void take(String name, List<Member<Q, A>> members) {
        Iterator<Member<Q, A>> line = coming.getOrDefault(name, Set.of()).iterator();
        while (members.size() < most && line.hasNext()) {
            members.add(line.next());
            line.remove();
        }
    }

    private void goOn(String name) {
        boolean more;
        synchronized (this) {
            more = !coming.getOrDefault(name, Set.of()).isEmpty();
            if (!more) {
                coming.remove(name);
            }
        }
        if (more) {
            leave(name);
        }
    }
}
