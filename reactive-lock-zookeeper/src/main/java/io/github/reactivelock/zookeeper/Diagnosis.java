package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.client.ConnectStringParser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks servers why they do not answer, because Curator says only that they do not: whether a server listens there, and,
 * by the one question that every ZooKeeper answers without a majority, whether it serves clients. Asked with plain
 * sockets on threads that may block: the JDK's asynchronous ones bring threads that stay for as long as the JVM.
 */
final class Diagnosis {

    private static final byte[] QUESTION = "srvr".getBytes(StandardCharsets.US_ASCII);
    private static final int ENOUGH = 64;

    static final String UP = "is up";
    static final String SERVES = UP + " and serves";
    static final String SILENT = "is silent";

    private Diagnosis() {}

    /** What each of the servers says within some time, never an error. */
    static Mono<String> of(String connectString, Duration patience) {
        return Mono.fromCallable(() -> List.copyOf(new ConnectStringParser(connectString).getServerAddresses()))
                .flatMapMany(Flux::fromIterable)
                .flatMapSequential(server -> ask(server, patience))
                .collectList()
                .map(answers -> String.join("; ", answers))
                .onErrorReturn("no server could be asked why");
    }

    private static Mono<String> ask(InetSocketAddress server, Duration patience) {
        String name = server.getHostString() + ":" + server.getPort();
        return SilenceClock.ofThisProcess()
                .timeout(
                        DriverThreads.calling(() -> answer(server.getHostString(), server.getPort(), patience)),
                        patience,
                        Mono.just(SILENT))
                .map(answer -> name + " " + answer);
    }

    /** Errors are answers too: one that came after its time would be logged by Reactor. */
    private static String answer(String host, int port, Duration patience) {
        try (Socket socket = new Socket()) {
            int milliseconds = (int) Math.max(1, patience.toMillis());
            socket.connect(new InetSocketAddress(host, port), milliseconds);
            socket.setSoTimeout(milliseconds);
            socket.getOutputStream().write(QUESTION);
            byte[] answer = new byte[ENOUGH];
            int read = Math.max(0, socket.getInputStream().read(answer));
            return meaning(new String(answer, 0, read, StandardCharsets.US_ASCII));
        } catch (UnknownHostException e) {
            return "is unknown";
        } catch (SocketTimeoutException e) {
            return SILENT;
        } catch (IOException e) {
            return "cannot be reached: " + e.getMessage();
        }
    }

    private static String meaning(String answer) {
        return answer.contains("not currently serving")
                ? UP + " but has no majority of its servers"
                : answer.startsWith("Zookeeper") ? SERVES : UP;
    }
}
