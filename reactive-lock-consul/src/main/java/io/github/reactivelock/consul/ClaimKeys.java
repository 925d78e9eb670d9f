package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.support.Departures.Rank;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What is asked of Consul about keys, each as a cold Mono. Names need no escaping ({@link KeyLayout}). */
final class ClaimKeys {

    private static final int AT_ONCE = 8;

    private final Agents agents;
    private final KeyLayout names;

    ClaimKeys(Agents agents, KeyLayout names) {
        this.agents = agents;
        this.names = names;
    }

    /**
     * A claim's key, and all that were there right after it was made.
     *
     * @param own the claim's key
     * @param queue all claims on the lock
     * @param repeated whether the question may be carried out once more
     */
    record Made(Entry own, PlaceQueue<Entry> queue, boolean repeated) {}

    /** What came of a look at one key: it is as it was, it is not, or Consul did not say. */
    sealed interface Checked {
        record Kept() implements Checked {}

        record Gone() implements Checked {}

        record Refused(Throwable why) implements Checked {}
    }

    /** Whether there was something to delete, and whether that had to be asked more than once. */
    record Deleted(boolean done, boolean repeated) {}

    /**
     * Makes a claim's key in the name of a session, and reads the queue in the same step. Said again it changes
     * nothing.
     */
    Mono<Made> enter(Claim claim, String session, Content content, Operation gate) {
        return enter(claim, gate, List.of(lock(claim, session, content)));
    }

    /**
     * As {@link #enter}, with a key that is new: one that is there already goes to the end of the queue. So it must
     * not be carried out late.
     */
    Mono<Made> enterAnew(Claim claim, String session, Content content, Operation gate) {
        return enter(claim, gate, List.of(Operation.delete(names.claim(claim)), lock(claim, session, content)));
    }

    private Operation lock(Claim claim, String session, Content content) {
        return Operation.lock(names.claim(claim), session, Entry.flags(claim), content.text());
    }

    private Mono<Made> enter(Claim claim, Operation gate, List<Operation> entering) {
        List<Operation> all = new ArrayList<>();
        all.add(gate);
        all.addAll(entering);
        all.add(Operation.tree(names.lock(claim.key())));
        String own = names.claim(claim);
        return transaction(Rank.OTHER, all).flatMap(done -> {
            if (!done.failed().isEmpty()) {
                ConsulFailure why = refused(done);
                boolean isShut =
                        done.failed().get(0).operation() == 0 && ConsulFailure.is(why, ConsulFailure.Kind.REFUSED);
                return Mono.error(isShut ? ConsulFailure.shutOut(agents.names(), claim.key()) : why);
            }
            // The first results are those of a check of what is there and of the acquisition, which show no value.
            List<Entry> tree = done.results()
                    .subList(gate.index() == 0 ? 1 : 2, done.results().size());
            return Mono.justOrEmpty(tree.stream()
                            .filter(entry -> entry.key().equals(own))
                            .findFirst())
                    .map(entry -> new Made(entry, Entry.queue(tree), done.repeated()));
        });
    }

    /** The claims on a lock, as a leader knows them that has just asked whether it is one. */
    Mono<PlaceQueue<Entry>> queue(String key) {
        return below(names.lock(key)).map(Entry::queue);
    }

    private Mono<List<Entry>> below(String folder) {
        return agents.ask(Question.get("kv/" + folder + "?recurse&consistent")).map(this::entries);
    }

    /** All keys in an answer; none if it says that there is none. */
    List<Entry> entries(Answer answer) {
        return switch (answer.status()) {
            case Answer.OK -> Json.entries(answer.body());
            case Answer.NOT_FOUND -> List.of();
            default -> throw refused(answer);
        };
    }

    /** The names of locks that begin with the given text, with a slash at their ends. */
    Mono<List<String>> locks(String beginning) {
        return agents.ask(Question.get("kv/" + beginning + "?keys&separator=/&consistent"))
                .map(answer -> switch (answer.status()) {
                    case Answer.OK -> Json.names(answer.body());
                    case Answer.NOT_FOUND -> List.of();
                    default -> throw refused(answer);
                });
    }

    /**
     * Consul leaves out of an answer what a token may not read, so that nothing looks like free. Fails if that is why
     * there is nothing in a folder.
     */
    Mono<Void> requireReadable(String folder) {
        return transaction(Rank.LOOK, List.of(Operation.checkIndex(folder, 1)), "?consistent")
                .flatMap(done -> {
                    ConsulFailure why = done.failed().isEmpty() ? null : refused(done);
                    return why != null && ConsulFailure.is(why, ConsulFailure.Kind.DENIED)
                            ? Mono.error(why)
                            : Mono.empty();
                });
    }

    /** Deletes what is not there, which goes the way of a write and changes nothing; fails if it is refused. */
    Mono<Void> requireWritable(String folder) {
        return transaction(Rank.LOOK, List.of(Operation.delete(folder)))
                .flatMap(done -> done.failed().isEmpty() ? Mono.empty() : Mono.error(refused(done)));
    }

    /** One key; empty if it is not there. */
    Mono<Entry> read(String key) {
        return agents.ask(Question.get("kv/" + key + "?consistent"))
                .flatMapIterable(this::entries)
                .next();
    }

    /** Looks whether keys are as they were, each for itself, in the order of the question. */
    Mono<List<Checked>> check(List<Entry> known) {
        return Flux.fromIterable(known)
                .buffer(Operation.MOST)
                .flatMapSequential(this::checkSome, AT_ONCE)
                .flatMapIterable(part -> part)
                .collectList();
    }

    private Mono<List<Checked>> checkSome(List<Entry> some) {
        List<Operation> checks = some.stream()
                .map(entry -> Operation.checkIndex(entry.key(), entry.modified()))
                .toList();
        return transaction(Rank.HOLD, checks, "?consistent").map(done -> {
            Map<Integer, Checked> failed = new HashMap<>();
            done.failed().forEach(failure -> failed.put(failure.operation(), checked(failure)));
            return IntStream.range(0, some.size())
                    .mapToObj(i -> failed.getOrDefault(i, new Checked.Kept()))
                    .toList();
        });
    }

    private Checked checked(Json.Failed failure) {
        ConsulFailure why = refused(failure);
        return ConsulFailure.is(why, ConsulFailure.Kind.DENIED) ? new Checked.Refused(why) : new Checked.Gone();
    }

    /** Deletes a key if it is as it was made. */
    Mono<Deleted> delete(Entry known) {
        return transaction(
                        Rank.END,
                        List.of(Operation.checkIndex(known.key(), known.modified()), Operation.delete(known.key())))
                .flatMap(done -> {
                    ConsulFailure why = done.failed().isEmpty() ? null : refused(done);
                    return why != null && ConsulFailure.is(why, ConsulFailure.Kind.DENIED)
                            ? Mono.error(why)
                            : Mono.just(new Deleted(why == null, done.repeated()));
                });
    }

    /** Deletes a key of any state, if it is there. */
    Mono<Void> delete(String key) {
        return transaction(Rank.END, List.of(Operation.delete(key)))
                .flatMap(done -> done.failed().isEmpty() ? Mono.empty() : Mono.error(refused(done)));
    }

    /** Writes a claim's key again, if it is as it was made, so that it cannot be called back; empty if it is not. */
    Mono<Entry> unmark(Entry known) {
        return transaction(
                        Rank.HOLD,
                        List.of(
                                Operation.checkIndex(known.key(), known.modified()),
                                Operation.lock(known.key(), known.session(), 0, known.value())))
                .flatMap(done -> {
                    if (done.failed().isEmpty()) {
                        return Mono.just(done.results().get(done.results().size() - 1));
                    }
                    ConsulFailure why = refused(done);
                    return ConsulFailure.is(why, ConsulFailure.Kind.DENIED) ? Mono.error(why) : unmarked(known);
                });
    }

    /** An answer may have been lost. */
    private Mono<Entry> unmarked(Entry known) {
        return read(known.key())
                .filter(found -> found.created() == known.created()
                        && found.session().equals(known.session())
                        && !found.isRecallable());
    }

    /** Writes a key of this client, which goes with its session. */
    Mono<Entry> own(String key, String session, String text) {
        return transaction(Rank.HOLD, List.of(Operation.lock(key, session, 0, text)))
                .flatMap(done ->
                        done.failed().isEmpty() ? Mono.just(done.results().get(0)) : Mono.error(refused(done)));
    }

    /** Tells the client of a session something, if it listens. That counts as one more acquisition of its key. */
    Mono<Void> notice(String key, String session, String text) {
        return transaction(Rank.END, List.of(Operation.unlock(key, session), Operation.lock(key, session, 0, text)))
                .then();
    }

    /** What came of a transaction, and whether it may have been carried out before. */
    record Done(List<Entry> results, List<Json.Failed> failed, boolean repeated) {}

    Mono<Done> transaction(Rank rank, List<Operation> operations) {
        return transaction(rank, operations, "");
    }

    private Mono<Done> transaction(Rank rank, List<Operation> operations, String parameters) {
        return Mono.fromSupplier(() -> Question.put(rank, "txn" + parameters, Json.transaction(operations)))
                .flatMap(agents::ask)
                .map(answer -> {
                    if (answer.status() != Answer.OK && answer.status() != Answer.CONFLICT) {
                        throw refused(answer);
                    }
                    Json.Outcome outcome = Json.outcome(answer.body());
                    return new Done(outcome.results(), outcome.failed(), answer.repeated());
                });
    }

    private ConsulFailure refused(Answer answer) {
        return ConsulFailure.refused(agents.names(), names.prefix(), answer.status(), answer.body());
    }

    ConsulFailure refused(Done done) {
        return refused(done.failed().get(0));
    }

    private ConsulFailure refused(Json.Failed failure) {
        return ConsulFailure.refused(agents.names(), names.prefix(), Answer.CONFLICT, failure.what());
    }
}
