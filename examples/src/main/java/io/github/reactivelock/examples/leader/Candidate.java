package io.github.reactivelock.examples.leader;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import io.github.reactivelock.etcd.EtcdFencingGuard;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.state.StaleTokenException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One process that wants to lead. It acts while it leads, and etcd accepts only a leader's writes. */
final class Candidate {

    static final String KEY = "leader";
    static final String RESIGN = "resign";

    /** Short, so that after a leader's death the others wait for no longer than this and a second and a half. */
    private static final Duration LEASE = Duration.ofSeconds(5);

    private static final Duration ACT = Duration.ofMillis(500);

    /** Written keys expire by themselves, in seconds. */
    private static final long KEPT = 60;

    /** Kept in a field: the JDK forgets the level of an unreferenced logger. */
    private static final Logger GRPC = Logger.getLogger("io.grpc");

    static {
        GRPC.setLevel(Level.WARNING);
    }

    private final String name;
    private final Client etcd;
    private final EtcdFencingGuard guard;

    private Candidate(String name, Client etcd) {
        this.name = name;
        this.etcd = etcd;
        this.guard = EtcdLockBackend.using(etcd).fencingGuard();
    }

    /** Arguments: the candidate's name, the endpoints of etcd. */
    public static void main(String[] args) {
        String name = args[0];
        List<String> endpoints = List.of(args).subList(1, args.length);
        LockClient lock = lock(name, endpoints);
        Mono<Void> program = Mono.using(
                () -> Client.builder()
                        .endpoints(endpoints.toArray(String[]::new))
                        .build(),
                etcd -> {
                    LeaderElection election = LeaderElection.of(lock, KEY);
                    return election.lead(new Candidate(name, etcd)::lead)
                            .takeUntilOther(orders().filter(RESIGN::equals).concatMap(order -> resign(election)))
                            .then();
                },
                Client::close);
        try {
            program.subscribeOn(Schedulers.boundedElastic())
                    .takeUntilOther(ChildProcess.parentExit())
                    .block();
        } catch (RuntimeException e) {
            System.err.println(name + ": " + Launcher.explain(e));
            System.exit(1);
        }
        // The clients end with the process, and the claim with its lease.
        System.exit(0);
    }

    static LockClient lock(String name, List<String> endpoints) {
        return LockClient.builder(EtcdLockBackend.connect(endpoints.toArray(String[]::new)))
                .name(name)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
    }

    /** What the parent says, a line an order; ends with the parent. */
    private static Flux<String> orders() {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        return Mono.fromCallable(in::readLine)
                .repeatWhen(lines -> lines.takeWhile(count -> count > 0))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static Mono<Void> resign(LeaderElection election) {
        return election.state() instanceof ElectionState.Leading leading
                ? leading.leadership().resign()
                : Mono.empty();
    }

    private Flux<Boolean> lead(Leadership leadership) {
        Print.line("  %s leads, term %d", name, leadership.term());
        return Mono.fromFuture(() -> etcd.getLeaseClient().grant(KEPT))
                .flatMapMany(lease -> Flux.interval(Duration.ZERO, ACT)
                        .onBackpressureDrop()
                        .concatMap(number -> act(leadership, number + 1, lease.getID())))
                .takeWhile(written -> written);
    }

    /** One transaction: it writes only if the term lasts at that moment. */
    private Mono<Boolean> act(Leadership leadership, long number, long lease) {
        String what = name + ", act " + number + " in term " + leadership.term();
        Op noted = Op.put(
                bytes("leader/last-act"),
                bytes(what),
                PutOption.builder().withLeaseId(lease).build());
        return guard.write(leadership.key(), leadership.term(), noted)
                .thenReturn(true)
                .onErrorResume(StaleTokenException.class, refused -> Mono.just(false))
                .doOnNext(written -> Print.line("    %s%s", what, written ? "" : ": refused"));
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
