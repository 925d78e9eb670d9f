package io.github.reactivelock.spi.support;

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
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/**
 * Questions that are put together: of those of one name one burst is unanswered at a time. Those that come meanwhile
 * leave with the next one, so each is answered by what left after it came. An answer is the whole burst's. Safe for use
 * from any thread.
 *
 * @param <Q> what one asker wants
 * @param <A> what a burst is answered with
 */
public final class Together<Q, A> {

    /**
     * Puts the questions of a burst.
     *
     * @param <Q> what one asker wants
     * @param <A> what a burst is answered with
     */
    public interface Burst<Q, A> {
        /**
         * Puts the questions of a name. It has to end, because all that come later wait for that.
         *
         * @param name what is asked about
         * @param leaving gives the questions, and is called once, when they leave
         * @return one answer or an error
         */
        Mono<A> ask(String name, Supplier<List<Q>> leaving);
    }

    /** No record, because two that ask the same are two. */
    private static final class Member<Q, A> {

        final Q question;
        /** A failure travels as a value, because Reactor logs an error that comes after a cancel. */
        final CompletableFuture<Signal<A>> answer = new CompletableFuture<>();

        Member(Q question) {
            this.question = question;
        }

        Mono<A> answer() {
            return Mono.fromFuture(answer, true).dematerialize();
        }
    }

    private final String what;
    private final int most;
    private final Burst<Q, A> burst;
    /** Those that have not left, of each name of which a burst is on its way. */
    private final Map<String, Set<Member<Q, A>>> coming = new HashMap<>();

    /**
     * None is asked yet.
     *
     * @param what what the log calls it
     * @param most how many questions leave in one burst
     * @param burst puts them
     */
    public Together(String what, int most, Burst<Q, A> burst) {
        this.what = what;
        this.most = most;
        this.burst = burst;
    }

    /**
     * Puts a question at subscription. Cold; one that is not waited for any more is not put, if it has not left.
     *
     * @param name what it is about
     * @param question what is wanted
     * @return the answer to its burst, without a limit in time but those of the bursts
     */
    public Mono<A> ask(String name, Q question) {
        return Mono.defer(() -> {
            Member<Q, A> member = new Member<>(question);
            join(name, member);
            return member.answer().doOnCancel(() -> withdraw(name, member));
        });
    }

    /**
     * Puts a question at once.
     *
     * @param name what it is about
     * @param question what is wanted
     * @return the answer to its burst, whether it is waited for or not
     */
    public Mono<A> join(String name, Q question) {
        Member<Q, A> member = new Member<>(question);
        join(name, member);
        return member.answer();
    }

    private void join(String name, Member<Q, A> member) {
        boolean isFirst;
        synchronized (this) {
            isFirst = !coming.containsKey(name);
            coming.computeIfAbsent(name, absent -> new LinkedHashSet<>(2)).add(member);
        }
        if (isFirst) {
            send(name);
        }
    }

    private synchronized void withdraw(String name, Member<Q, A> member) {
        Set<Member<Q, A>> queued = coming.get(name);
        if (queued != null) {
            queued.remove(member);
        }
    }

    private void send(String name) {
        List<Member<Q, A>> members = new ArrayList<>();
        AtomicBoolean hasLeft = new AtomicBoolean();
        AtomicBoolean over = new AtomicBoolean();
        Consumer<Signal<A>> end = answer -> {
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
                .doOnSuccess(found -> end.accept(Signal.next(found)))
                .doOnError(error -> end.accept(Signal.error(error)));
        FireAndForget.run(what, answer);
    }

    private synchronized void take(String name, List<Member<Q, A>> members) {
        Iterator<Member<Q, A>> queued = coming.getOrDefault(name, Set.of()).iterator();
        while (members.size() < most && queued.hasNext()) {
            members.add(queued.next());
            queued.remove();
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
            send(name);
        }
    }
}
