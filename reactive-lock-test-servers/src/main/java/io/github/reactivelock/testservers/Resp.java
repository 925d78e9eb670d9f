package io.github.reactivelock.testservers;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** The part of the Redis protocol that tests need to ask a server: no library. */
final class Resp implements AutoCloseable {

    private final Socket socket;
    private final InputStream in;

    private Resp(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(20_000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    static Resp plain(int port) throws IOException {
        return new Resp(connected(port));
    }

    /** Trusts every certificate: the tests need no proof of the server's identity. */
    static Resp encrypted(int port) throws IOException {
        try {
            SSLContext trusting = SSLContext.getInstance("TLS");
            trusting.init(null, new TrustManager[] {new Trusting()}, null);
            return new Resp(trusting.getSocketFactory().createSocket(connected(port), "127.0.0.1", port, true));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Socket connected(int port) throws IOException {
        Socket socket = new Socket();
        socket.connect(Loopback.port(port), 2_000);
        return socket;
    }

    /**
     * The answers to commands that are sent together: each a String, a Long, a List of answers, or null. An error of
     * the server is thrown.
     */
    @CanIgnoreReturnValue
    List<@Nullable Object> commands(List<List<String>> commands) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (List<String> words : commands) {
            out.write(ascii("*" + words.size() + "\r\n"));
            for (String word : words) {
                byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                out.write(ascii("$" + bytes.length + "\r\n"));
                out.write(bytes);
                out.write(ascii("\r\n"));
            }
        }
        socket.getOutputStream().write(out.toByteArray());
        return list(commands.size());
    }

    private @Nullable Object answer() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case ':' -> Long.valueOf(rest);
            case '-' -> throw new IllegalStateException(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> rest.equals("-1") ? null : list(Integer.parseInt(rest));
            default -> throw new IOException("not the Redis protocol: " + line);
        };
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException("the server closed the connection");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private List<@Nullable Object> list(int length) throws IOException {
        List<@Nullable Object> all = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            all.add(answer());
        }
        return all;
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\r'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            line.write(next);
        }
        if (in.read() != '\n' || line.size() == 0) {
            throw new IOException("not the Redis protocol");
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
