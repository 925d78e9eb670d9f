package io.github.reactivelock.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockUnavailableException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jars that do not fit together are told as such, and not as a server that is down. */
class ClassPathFaultTest {

    @TempDir
    private Path jars;

    private URL jar(String name, String... files) throws IOException {
        Path jar = jars.resolve(name);
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            for (String file : files) {
                entries.putNextEntry(new ZipEntry(file));
                entries.closeEntry();
            }
        }
        return jar.toUri().toURL();
    }

    private static String told(Throwable cause) {
        return new LockUnavailableException("order:42", "acquired", cause).getMessage();
    }

    @Test
    void aMixOfNettysIsToldWithItsVersionsAndTheCure() throws IOException {
        String versions = "META-INF/io.netty.versions.properties";
        String type = "io/netty/channel/MultiThreadIoEventLoopGroup";
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader mixed = new URLClassLoader(
                new URL[] {
                    jar("netty-transport-4.2.20.Final.jar", versions, type + ".class"),
                    jar("netty-codec-dns-4.1.128.Final.jar", versions),
                    jar("netty-tcnative-classes-2.0.70.Final.jar", versions)
                },
                null)) {
            Thread.currentThread().setContextClassLoader(mixed);

            String told = told(new IllegalStateException(
                    "Redis cannot be reached; is it running?", new NoClassDefFoundError(type)));

            assertThat(told)
                    .contains("order:42", "no server is at fault", type, "netty-transport-4.2.20.Final")
                    .contains("in the versions 4.1.128.Final and 4.2.20.Final; ")
                    .contains("netty-bom")
                    .doesNotContain("is it running", "tcnative");
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void aMissingMethodOfAnotherLibraryNamesNoNetty() {
        IllegalStateException failure = new IllegalStateException("etcd cannot be reached; is it running?");
        failure.addSuppressed(new NoSuchMethodError("'void com.google.common.base.Preconditions.check(int)'"));

        assertThat(told(failure))
                .contains("no server is at fault", "com.google.common.base.Preconditions")
                .doesNotContain("netty", "is it running");
    }

    @Test
    void anInitializerThatFailsIsToldByItsCause() {
        Throwable failure = new IllegalStateException(
                "no connection",
                new ExceptionInInitializerError(new IllegalArgumentException("of io.netty.util.Version")));

        assertThat(told(failure)).contains("of io.netty.util.Version", "netty-bom");
    }

    @Test
    void anythingElseIsTheStoresToTell() {
        assertThat(told(new IllegalStateException("Redis cannot be reached; is it running?")))
                .contains("is it running")
                .doesNotContain("class path");
    }
}
