package io.github.reactivelock.kotlin

import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path

/**
 * Every Kotlin snippet of the documents stands in `Snippets.kt`, word for word, where the build compiles it. Those of a
 * Gradle build are left out.
 */
class SnippetsTest {
    private val root = Path.of("").toAbsolutePath().parent

    @Test
    fun everyOneIsCompiled() {
        val compiled = Files.readString(Path.of("src/test/kotlin/io/github/reactivelock/kotlin/Snippets.kt")).words()
        val snippets = snippets()

        assertThat(snippets).hasSizeGreaterThan(4)
        assertThat(snippets).allSatisfy({ assertThat(compiled).contains(it.withoutImports().words()) })
    }

    @Test
    fun theFirstOneShowsImportsOfWhatIsThere() {
        val own = "import ${javaClass.packageName}."
        val shown = snippets().first { it.contains("coroutines()") }.lines().filter { it.startsWith("import ") }
        val declared = Files.readString(Path.of("src/main/kotlin/io/github/reactivelock/kotlin/CoroutineLockClient.kt"))

        assertThat(shown).hasSize(2).allSatisfy({
            assertThat(it).startsWith(own)
            assertThat(declared).containsPattern("public (class|fun LockClient\\.)\\s*${it.removePrefix(own)}\\b")
        })
    }

    private fun String.withoutImports() = lines().filterNot { it.startsWith("import ") }.joinToString("\n")

    private fun snippets(): List<String> {
        val pages = Files.walk(root.resolve("docs")).use { all -> all.filter { it.toString().endsWith(".md") }.toList() }
        return pages
            .plusElement(root.resolve("README.md"))
            .flatMap { Regex("```kotlin\n((?s).*?)```").findAll(Files.readString(it)) }
            .map { it.groupValues[1] }
            .filterNot { it.contains("implementation(") }
    }

    /** Indentation and line ends do not count. */
    private fun String.words() = replace(Regex("\\s+"), " ").trim()
}
