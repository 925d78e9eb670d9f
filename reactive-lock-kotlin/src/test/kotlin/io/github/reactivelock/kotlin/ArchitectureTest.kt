package io.github.reactivelock.kotlin

import com.tngtech.archunit.core.domain.JavaModifier
import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.core.importer.ImportOption
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import io.github.reactivelock.LockOptions
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

class ArchitectureTest {
    private val main =
        ClassFileImporter()
            .withImportOption(
                ImportOption.DoNotIncludeTests(),
            ).importPackages("io.github.reactivelock.kotlin")

    @Test
    fun ofTheProjectOnlyTheApiIsSeen() {
        noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.github.reactivelock.spi..", "io.github.reactivelock.memory..")
            .check(main)
    }

    /** The last two are `internal` in Kotlin, which a class file cannot say. */
    @Test
    fun whatAUserImportsIsThisAndNoMore() {
        val visible =
            main.filter {
                JavaModifier.PUBLIC in it.modifiers && it.simpleName != "package-info" && '$' !in it.name
            }

        assertThat(visible.map { it.simpleName }).containsExactlyInAnyOrder(
            "CoroutineLockClient",
            "CoroutineLockClientKt",
            "LockOptionsDurationsKt",
            "UnderLockKt",
            "Locks",
        )
    }

    @Test
    fun durationsOfKotlinMeanTheSameAsThoseOfJava() {
        val options =
            LockOptions
                .defaults()
                .withLease(5.seconds)
                .withWaitTimeout(250.milliseconds)
                .withMaxHold(9.seconds)
                .withMinHold(3.seconds)
                .withLockDelay(700.milliseconds)
                .withRetention(2.seconds)

        assertThat(options).hasToString(
            LockOptions
                .defaults()
                .withLease(java.time.Duration.ofSeconds(5))
                .withWaitTimeout(java.time.Duration.ofMillis(250))
                .withMaxHold(java.time.Duration.ofSeconds(9))
                .withMinHold(java.time.Duration.ofSeconds(3))
                .withLockDelay(java.time.Duration.ofMillis(700))
                .withRetention(java.time.Duration.ofSeconds(2))
                .toString(),
        )
        assertThatThrownBy { LockOptions.defaults().withLease(Duration.INFINITE) }
            .isInstanceOf(IllegalArgumentException::class.java)
            .hasMessageContaining("lease must be")
    }
}
