package io.github.reactivelock.examples.verticle;

import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.vertx.VertxLockHandle;
import io.vertx.core.CompositeFuture;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** Two verticles work through the same invoices, first without the lock and then with it. */
@Command(
        name = "examples/run verticle",
        description = "Two verticles share work through VertxLockClient, which speaks futures.")
public final class Verticles implements Callable<Integer> {

    private static final int INVOICES = 12;
    private static final int PAUSE_MILLIS = 2_000;

    @Mixin
    private final RedisOption redis = new RedisOption();

    @Option(
            names = "--demo",
            description = "one round of each kind, then end; without it, rounds continue until Ctrl-C")
    private boolean demo;

    private Verticles() {}

    /**
     * Runs the example and ends the JVM.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Verticles(), args);
    }

    @Override
    public Integer call() {
        Vertx vertx = Vertx.vertx();
        redis.use(uri -> Mono.fromCompletionStage(
                        () -> run(vertx, uri).eventually(vertx::close).toCompletionStage()))
                .block();
        return 0;
    }

    private Future<Void> run(Vertx vertx, String uri) {
        return rounds(vertx, uri)
                .compose(done -> demo
                        ? undeployWhileHolding(vertx, uri)
                        : vertx.timer(PAUSE_MILLIS).compose(again -> run(vertx, uri)));
    }

    private static Future<Void> rounds(Vertx vertx, String uri) {
        List<Integer> pile = IntStream.rangeClosed(1, INVOICES).boxed().toList();
        List<Integer> fromBelow = new ArrayList<>(pile);
        Collections.reverse(fromBelow);
        System.out.println("\nTwo verticles, one pile of invoices, no lock");
        return round(vertx, uri, Clerk::printCarelessly, pile, pile).compose(done -> {
            System.out.println("\nwithLock around looking and printing; south begins at the other end of the pile");
            return round(vertx, uri, Clerk::print, pile, fromBelow);
        });
    }

    private interface Work {
        Future<Void> of(Clerk clerk, List<Integer> invoices);
    }

    private static Future<Void> round(
            Vertx vertx, String uri, Work work, List<Integer> forNorth, List<Integer> forSouth) {
        Office office = new Office(vertx);
        Clerk north = new Clerk("north", uri, office);
        Clerk south = new Clerk("south", uri, office);
        return deployed(vertx, north, south)
                .compose(deployed -> Future.all(
                                north.ask(() -> work.of(north, forNorth)), south.ask(() -> work.of(south, forSouth)))
                        .eventually(() ->
                                Future.all(vertx.undeploy(deployed.resultAt(0)), vertx.undeploy(deployed.resultAt(1)))))
                .onSuccess(done -> System.out.println("    " + office.report()))
                .mapEmpty();
    }

    /** Fails only when both have come up or failed: Vert.x must not be closed while one of them still starts. */
    private static CompositeFuture deployed(Vertx vertx, Clerk north, Clerk south) {
        return Future.join(vertx.deployVerticle(north), vertx.deployVerticle(south));
    }

    private static Future<Void> undeployWhileHolding(Vertx vertx, String uri) {
        System.out.println("\nA verticle that is undeployed releases its holds");
        Office office = new Office(vertx);
        Clerk north = new Clerk("north", uri, office);
        Clerk south = new Clerk("south", uri, office);
        return deployed(vertx, north, south)
                .compose(deployed -> north.ask(north::takeTheKeys).compose(held -> {
                    Future<VertxLockHandle> next = south.ask(south::takeTheKeys);
                    System.out.println("    south waits; north is undeployed");
                    return vertx.undeploy(deployed.resultAt(0)).compose(gone -> next);
                }))
                .compose(VertxLockHandle::release);
    }
}
