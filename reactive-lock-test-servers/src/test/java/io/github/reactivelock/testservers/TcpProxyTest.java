package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {

    private final ServerSocket echo = new ServerSocket(0, 10, Loopback.address());
    private final Object replying = new Object();
    private final AtomicInteger received = new AtomicInteger();
    private final Queue<Socket> atTheServer = new ConcurrentLinkedQueue<>();
    private final TcpProxy proxy = TcpProxy.to(echo.getLocalPort());

    TcpProxyTest() throws IOException {
        daemon(this::accept);
    }

    private static void daemon(Runnable body) {
        Thread thread = new Thread(body, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!echo.isClosed()) {
            try {
                Socket client = echo.accept();
                atTheServer.add(client);
                daemon(() -> answer(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void answer(Socket client) {
        try (client) {
            for (int next = client.getInputStream().read();
                    next >= 0;
                    next = client.getInputStream().read()) {
                received.incrementAndGet();
                synchronized (replying) {
                    client.getOutputStream().write(next);
                }
            }
        } catch (IOException e) {
            // The test atTheServer it.
        }
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        echo.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(Loopback.port(proxy.port()), 5_000);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static int echoed(Socket socket, int sent) throws IOException {
        socket.getOutputStream().write(sent);
        return socket.getInputStream().read();
    }

    @Test
    void whatIsSentArrivesAndIsAnswered() throws IOException {
        try (Socket one = connect();
                Socket other = connect()) {
            assertThat(echoed(one, 7)).isEqualTo(7);
            assertThat(echoed(other, 8)).isEqualTo(8);
            assertThat(proxy.connections()).isEqualTo(2);
        }
        Pause.until("closed connections are forgotten", () -> proxy.connections() == 0);
    }

    @Test
    void aCutEndsConnectionsAndRefusesNewOnesUntilItIsMended() throws IOException {
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 7)).isEqualTo(7);

            proxy.cut();

            assertThatThrownBy(() -> echoed(socket, 8)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> {
                        try (Socket refused = connect()) {
                            throw new IOException("read " + echoed(refused, 9) + " instead of being refused");
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .hasMessageNotContaining("instead of");
        }
        proxy.mend();
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 10)).isEqualTo(10);
        }
    }

    @Test
    void aFrozenConnectionMovesNothingAndThenGoesOn() throws IOException {
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 7)).isEqualTo(7);
            proxy.freeze();
            socket.setSoTimeout(100);

            assertThatThrownBy(() -> echoed(socket, 8)).isInstanceOf(SocketTimeoutException.class);
            assertThat(received).hasValue(1);
            connect().close();

            proxy.mend();
            socket.setSoTimeout(20_000);
            assertThat(socket.getInputStream().read()).isEqualTo(8);
        }
    }

    @Test
    void repliesAreDroppedAfterTheRequestWentThrough() throws IOException {
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 7)).isEqualTo(7);
            proxy.dropReplies();
            socket.setSoTimeout(100);

            assertThatThrownBy(() -> echoed(socket, 8)).isInstanceOf(SocketTimeoutException.class);
            Pause.until("the server got the request", () -> received.get() == 2);
            proxy.mend();

            assertThatThrownBy(() -> echoed(socket, 9)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void aReplyThatComesWhenTheModeHasEndedIsLostToo() throws IOException {
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 7)).isEqualTo(7);
            proxy.dropReplies();
            synchronized (replying) { // the server has the request and does not answer yet
                socket.getOutputStream().write(8);
                Pause.until("the server got the request", () -> received.get() == 2);
                proxy.mend();
            }

            assertThatThrownBy(() -> {
                        int read = socket.getInputStream().read();
                        throw new IOException("read " + read + " instead of being reset");
                    })
                    .isInstanceOf(IOException.class)
                    .hasMessageNotContaining("instead of");
        }
    }

    @Test
    void aDelayHoldsBackWhatFlows() throws IOException {
        try (Socket socket = connect()) {
            proxy.delay(Duration.ofMillis(100));
            long before = System.nanoTime();

            assertThat(echoed(socket, 7)).isEqualTo(7);

            assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(200_000_000);
        }
    }

    @Test
    void aForgottenConnectionStaysOpenAndLosesWhatBothSidesSend() throws IOException {
        try (Socket forgotten = connect()) {
            assertThat(echoed(forgotten, 7)).isEqualTo(7);

            assertThat(proxy.forget()).isEqualTo(1);

            forgotten.setSoTimeout(100);
            assertThatThrownBy(() -> echoed(forgotten, 8)).isInstanceOf(SocketTimeoutException.class);
            assertThat(received).hasValue(1);
            assertThat(proxy.connections()).isEqualTo(1);
            try (Socket fresh = connect()) {
                assertThat(echoed(fresh, 9)).isEqualTo(9);
            }
        }
        Pause.until("the client has closed it", () -> proxy.connections() == 0);
    }

    @Test
    void aForgottenConnectionLosesAnswersUnderWayAndTheServersEnd() throws IOException {
        try (Socket socket = connect()) {
            assertThat(echoed(socket, 7)).isEqualTo(7);
            synchronized (replying) { // the server has the request and does not answer yet
                socket.getOutputStream().write(8);
                Pause.until("the server got the request", () -> received.get() == 2);
                proxy.forget();
            }
            proxy.endForgottenAtTheServer();
            Pause.until(
                    "the server knows of the end", () -> atTheServer.stream().allMatch(Socket::isClosed));
            socket.setSoTimeout(100);

            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void onlyConnectionsOnWhichAWordWasSaidAreForgotten() throws IOException {
        try (Socket one = connect();
                Socket other = connect()) {
            for (char letter : "subscribe".toCharArray()) {
                assertThat(echoed(one, letter)).isEqualTo(letter);
            }
            assertThat(echoed(other, 'S')).isEqualTo('S');

            assertThat(proxy.forget("SUBSCRIBE")).isEqualTo(1);

            assertThat(echoed(other, 7)).isEqualTo(7);
            one.setSoTimeout(100);
            assertThatThrownBy(() -> echoed(one, 8)).isInstanceOf(SocketTimeoutException.class);
        }
    }
}
