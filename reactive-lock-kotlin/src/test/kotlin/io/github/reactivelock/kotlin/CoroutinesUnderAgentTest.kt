package io.github.reactivelock.kotlin

import io.github.reactivelock.testservers.RedisServer
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.File
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.readLines

/**
 * The agent of OpenTelemetry gives coroutines what they carry. Below a lock they have that, and nothing of another one.
 */
class CoroutinesUnderAgentTest {
    @TempDir
    lateinit var directory: Path

    @Test
    fun everyCoroutineSeesItsOwnTraceUnderTheAgent() {
        val said = RedisServer.start().use { run(it.uri()) }

        assertThat(said).contains("done")
        assertThat(said.filter { it.startsWith("saw ") }).isNotEmpty()
        assertThat(said).noneMatch { it.startsWith("saw ANOTHER'S") }
        assertThat(said).anyMatch { it.startsWith("saw its own in Redis, a pool, without a trace") }
    }

    private fun run(address: String): List<String> {
        val libraries = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
        val agent =
            libraries.split(File.pathSeparator).first { "opentelemetry-javaagent-" in Path.of(it).fileName.toString() }
        val printed = directory.resolve("printed.txt")
        val process =
            ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-javaagent:$agent",
                "-Dotel.traces.exporter=none",
                "-Dotel.metrics.exporter=none",
                "-Dotel.logs.exporter=none",
                "-Xmx384m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                libraries,
                "io.github.reactivelock.kotlin.TracedKt",
                address,
            ).redirectErrorStream(true).redirectOutput(printed.toFile()).start()
        try {
            assertThat(process.waitFor(4, TimeUnit.MINUTES)).`as`("it ends").isTrue()
        } finally {
            process.destroyForcibly()
        }
        return printed.readLines()
    }
}
