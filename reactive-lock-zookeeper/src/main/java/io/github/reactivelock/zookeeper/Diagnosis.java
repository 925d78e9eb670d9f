package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.DriverThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.client.ConnectStringParser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks servers why they do not answer, because Curator says only that they do not: whether anybody listens there, and, by
 * the one question that every ZooKeeper answers without a majority, whether it serves clients.
 */
final class Diagnosis {

    private static final Duration PATIENCE = Duration.ofMillis(150);
    private static final byte[] QUESTION = "srvr".getBytes(StandardCharsets.US_ASCII);
    private static final int ENOUGH = 64;

    private Diagnosis() {}

    /** What each of the servers says, never an error. */
    static Mono<String> of(String connectString) {
        return Mono.fromCallable(() -> List.copyOf(new ConnectStringParser(connectString).getServerAddresses()))
                .flatMapMany(Flux::fromIterable)
                .flatMapSequential(Diagnosis::ask)
                .collectList()
                .map(answers -> String.join("; ", answers))
                .onErrorReturn("nobody could be asked why");
    }

    private static Mono<String> ask(InetSocketAddress server) {
        String name = server.getHostString() + ":" + server.getPort();
        return Mono.fromCallable(() -> new InetSocketAddress(server.getHostString(), server.getPort()))
                // Looking up a name blocks.
                .subscribeOn(DriverThreads.mayBlock())
                .flatMap(address -> Mono.using(
                        AsynchronousSocketChannel::open, channel -> converse(channel, address), Diagnosis::close))
                .map(Diagnosis::meaning)
                .timeout(PATIENCE, Mono.just("is silent"), DriverThreads.timer())
                .onErrorResume(error -> Mono.just(
                        error.getMessage() == null ? "is unknown" : "cannot be reached: " + error.getMessage()))
                .map(answer -> name + " " + answer);
    }

    private static Mono<String> converse(AsynchronousSocketChannel channel, InetSocketAddress address) {
        ByteBuffer answer = ByteBuffer.allocate(ENOUGH);
        return Mono.<Void>fromFuture(() -> Diagnosis.<Void>with(handler -> channel.connect(address, null, handler)))
                .then(Mono.fromFuture(() ->
                        Diagnosis.<Integer>with(handler -> channel.write(ByteBuffer.wrap(QUESTION), null, handler))))
                .then(Mono.fromFuture(() -> Diagnosis.<Integer>with(handler -> channel.read(answer, null, handler))))
                .map(read -> new String(answer.array(), 0, Math.max(0, read), StandardCharsets.US_ASCII));
    }

    private static String meaning(String answer) {
        return answer.contains("not currently serving")
                ? "is up but has no majority of its servers"
                : "is up" + (answer.startsWith("Zookeeper") ? " and serves" : "");
    }

    private interface Step<T> {
        void begin(CompletionHandler<T, Void> handler);
    }

    private static <T> CompletableFuture<T> with(Step<T> step) {
        CompletableFuture<T> done = new CompletableFuture<>();
        step.begin(new CompletionHandler<>() {
            @Override
            public void completed(T result, Void unused) {
                done.complete(result);
            }

            @Override
            public void failed(Throwable error, Void unused) {
                done.completeExceptionally(error);
            }
        });
        return done;
    }

    private static void close(AsynchronousSocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is of no use either way.
        }
    }
}
