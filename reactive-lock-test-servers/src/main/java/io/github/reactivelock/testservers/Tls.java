package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;

/**
 * A self-signed certificate for servers at 127.0.0.1, for tests. The {@code openssl} of the PATH makes it, and it is
 * valid for two days. The methods block; they are for test threads.
 *
 * @param certificate a file with the certificate, as PEM
 * @param key a file with its private key, as PEM, without a password
 */
public record Tls(Path certificate, Path key) {

    /** Password of the {@link #trustStore}; not a secret. */
    public static final String STORE_PASSWORD = "changeit";

    /**
     * Makes a certificate.
     *
     * @param directory where its files go
     * @return two files
     */
    public static Tls in(Path directory) {
        Tls made = new Tls(directory.resolve("tls.crt"), directory.resolve("tls.key"));
        String command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=locks -addext"
                + " subjectAltName=IP:127.0.0.1,DNS:localhost -keyout " + made.key + " -out " + made.certificate;
        try {
            Process openssl = new ProcessBuilder(command.split(" ", -1))
                    .redirectErrorStream(true)
                    .start();
            byte[] said = openssl.getInputStream().readAllBytes();
            if (openssl.waitFor() != 0) {
                throw new IllegalStateException("openssl failed: " + new String(said, StandardCharsets.UTF_8));
            }
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException("openssl does not run; install it", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /**
     * Settings of a Redis that speaks only TLS, to clients and to other servers, on its usual port.
     *
     * @param password the password that it asks clients and other servers for
     * @return settings for {@link RedisServer#start}, {@link RedisSentinel#start} and {@link RedisCluster#start}
     */
    public String[] redis(String password) {
        return List.of(
                        "--tls-cert-file",
                        certificate.toString(),
                        "--tls-key-file",
                        key.toString(),
                        "--tls-ca-cert-file",
                        certificate.toString(),
                        "--tls-auth-clients",
                        "no",
                        "--tls-replication",
                        "yes",
                        "--tls-cluster",
                        "yes",
                        "--requirepass",
                        password,
                        "--masterauth",
                        password)
                .toArray(String[]::new);
    }

    /**
     * A file with the certificate for the system property {@code javax.net.ssl.trustStore}.
     *
     * @return a PKCS 12 store beside the certificate, opened by {@link #STORE_PASSWORD}
     */
    public Path trustStore() {
        Path file = certificate.resolveSibling("trust.p12");
        try (InputStream in = Files.newInputStream(certificate);
                OutputStream out = Files.newOutputStream(file)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setCertificateEntry(
                    "locks", CertificateFactory.getInstance("X.509").generateCertificate(in));
            store.store(out, STORE_PASSWORD.toCharArray());
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
